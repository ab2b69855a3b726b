import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const NAMESPACE = '/api/core/v2/namespaces/default';
const BEYOND = '9007199254740992';
const LARGEST = '9223372036854775807';
const TOO_LARGE = '9223372036854775808';

describe('a 64-bit integer in a body', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (kind: string, text: string): Promise<Reply> =>
    api.send({ method: 'POST', path: `${NAMESPACE}/${kind}`, text });
  const checkText = (name: string, fields: string): string =>
    `{"metadata":{"name":"${name}","namespace":"default"},"interval":1,${fields}}`;
  const eventText = (check: string, rest = ''): string =>
    `{"entity":{"entity_class":"proxy","metadata":{"name":"e","namespace":"default"}},` +
    `"check":{"metadata":{"name":"c","namespace":"default"},"interval":1,${check}}${rest}}`;

  const fields: [field: string, kind: string, bodyWith: (digits: string) => string][] = [
    ['check.executed', 'events', (digits) => eventText(`"executed":${digits}`)],
    ['check.issued', 'events', (digits) => eventText(`"issued":${digits}`)],
    ['check.last_ok', 'events', (digits) => eventText(`"last_ok":${digits}`)],
    ['check.history.0.executed', 'events', (digits) => eventText(`"history":[{"executed":${digits}}]`)],
    ['timestamp', 'events', (digits) => eventText('"status":0', `,"timestamp":${digits}`)],
    ['sequence', 'events', (digits) => eventText('"status":0', `,"sequence":${digits}`)],
    ['last_seen', 'entities', (digits) => `{"entity_class":"proxy","metadata":{"name":"e"},"last_seen":${digits}}`],
    ['begin', 'silenced', (digits) => `{"subscription":"s","metadata":{"namespace":"default"},"begin":${digits}}`],
    ['expire', 'silenced', (digits) => `{"subscription":"s","metadata":{"namespace":"default"},"expire":${digits}}`],
  ];
  for (const [field, kind, bodyWith] of fields) {
    it(`is 400 when a response could not return it exactly: ${field}`, async () => {
      for (const digits of [BEYOND, LARGEST, TOO_LARGE, '1e300']) {
        const { status, body } = await post(kind, bodyWith(digits));
        const message = `${field} must be <= 9007199254740991`;
        expect([digits, status, body]).to.deep.equal([digits, 400, { message, code: 1 }]);
      }
      const { status, body } = await post(kind, bodyWith(`-${BEYOND}`));
      const message = `${field} must be >= -9007199254740991`;
      expect([status, body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('is returned exactly up to 2^53 - 1', async () => {
    await post('entities', '{"entity_class":"proxy","metadata":{"name":"far"},"last_seen":9007199254740991}');
    expect((await api.get(`${NAMESPACE}/entities/far`)).text).to.include('"last_seen":9007199254740991,');
  });

  for (const field of ['ttl', 'max_output_size']) {
    it(`may be up to 2^63 - 1, and is rendered within 64 bits: ${field}`, async () => {
      for (const [index, digits] of [BEYOND, '4611686018427388000', LARGEST].entries()) {
        const name = `${field}-${index}`;
        expect((await post('checks', checkText(name, `"${field}":${digits}`))).status).to.equal(201);
        const { text } = await api.get(`${NAMESPACE}/checks/${name}`);
        const shown = BigInt(new RegExp(`"${field}":(\\d+)`).exec(text)?.[1] ?? '0');
        expect(BigInt.asIntN(64, shown)).to.equal(shown);
        expect(shown).to.equal(digits === LARGEST ? 9_223_372_036_854_775_000n : BigInt(digits));
      }
    });

    it(`is 400 when it is 2^63 or larger: ${field}`, async () => {
      for (const digits of [TOO_LARGE, '9223372036854776000', '99999999999999999999', `-${TOO_LARGE}`]) {
        const { status, body } = await post('checks', checkText('no', `"${field}":${digits}`));
        expect([digits, status]).to.deep.equal([digits, 400]);
        expect(body).to.have.property('message').that.includes(`${field} must be `);
      }
    });
  }

  it('is not recognised inside a text or inside a longer number', async () => {
    const command = `echo \\"${LARGEST}, ${LARGEST}`;
    expect((await post('checks', checkText('text', `"command":"${command}","ttl":${LARGEST}`))).status).to.equal(201);
    expect((await api.get(`${NAMESPACE}/checks/text`)).text).to.include(`"command":"${command}"`);
    expect((await post('checks', checkText('part', `"ttl":1${LARGEST}`))).status).to.equal(400);
  });

  it('is searched for in linear time in a body of unclosed quotes', async () => {
    expect((await post('checks', `{"a":${LARGEST},"${'\\"'.repeat(200_000)}`)).status).to.equal(400);
  });
});
