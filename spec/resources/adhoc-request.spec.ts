import { expect } from 'chai';
import { parseAdhocRequest } from '../../src/resources/adhoc-request.ts';
import { InvalidResource } from '../../src/resources/errors.ts';

describe('a request to run a check now', () => {
  it('truncates a long reason and a long creator', () => {
    const { creator, reason } = parseAdhocRequest({ creator: 'c'.repeat(600), reason: 'r'.repeat(600) });
    expect([creator.length, reason.length]).to.deep.equal([500, 500]);
  });

  it('names at most 1,000 subscriptions, of at most 500 characters', () => {
    const subscriptions = Array.from({ length: 1_000 }, () => 's'.repeat(500));
    expect(parseAdhocRequest({ subscriptions }).subscriptions).to.deep.equal(subscriptions);
    for (const [many, rule] of [
      [[...subscriptions, 's'], 'subscriptions must NOT have more than 1000 items'],
      [['s'.repeat(501)], 'subscriptions.0 must NOT have more than 500 characters'],
    ] as const) {
      expect(() => parseAdhocRequest({ subscriptions: many })).to.throw(InvalidResource, rule);
    }
  });
});
