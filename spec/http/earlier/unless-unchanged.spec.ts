import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { EarlierAnswer } from '../../../src/http/earlier/earlier-route.ts';
import { unlessUnchanged } from '../../../src/http/earlier/unless-unchanged.ts';

const requestWith = (headers: Record<string, string> = {}) =>
  ({ method: 'GET', headers }) as unknown as IncomingMessage;
const answerOf = (body: NonNullable<EarlierAnswer['body']>): EarlierAnswer => ({
  status: 200,
  type: 'application/json',
  headers: { 'X-Pagination': 'page' },
  body,
});
const tagOf = ({ headers }: EarlierAnswer): string => headers?.['ETag'] ?? '';

function* partsOf(count: number, length: number): Generator<string> {
  for (let part = 0; part < count; part += 1) yield String(part % 10).repeat(length);
}

describe('an entity tag of the first generation', () => {
  it('is the same for a list that was read at once and in parts', async () => {
    const atOnce = await unlessUnchanged(requestWith(), answerOf('[1,2]'));
    const inParts = await unlessUnchanged(requestWith(), answerOf(['[1,', '2]']));
    expect(tagOf(atOnce)).to.match(/^W\/"[0-9a-f]{32}"$/);
    expect(inParts).to.deep.equal(atOnce);
  });

  it('is answered with 304 for a list in parts that the client has', async () => {
    const tag = tagOf(await unlessUnchanged(requestWith(), answerOf('[1,2]')));
    const again = await unlessUnchanged(requestWith({ 'if-none-match': tag }), answerOf(['[1,', '2]']));
    expect(again).to.deep.equal({ status: 304, headers: { ETag: tag, 'X-Pagination': 'page' } });
  });

  it('is absent for a long list, whose parts are all sent, and read only as they are sent', async () => {
    let isRead = false;
    function* long(): Generator<string> {
      yield* partsOf(8, 65_536);
      isRead = true;
      yield 'last';
    }
    const { body, headers } = await unlessUnchanged(requestWith(), answerOf(long()));
    expect(headers).to.deep.equal({ 'X-Pagination': 'page' });
    expect(isRead).to.equal(false);
    expect([...(body as Iterable<string>)].join('')).to.equal(`${[...partsOf(8, 65_536)].join('')}last`);
  });
});
