import { expect } from 'chai';
import { assertKnownParameters, timeParameter } from '../../../src/http/request/query-parameters.ts';

const timeOf = (value: string): number | undefined => timeParameter(new URLSearchParams({ at: value }), 'at');

describe('a parameter with a time', () => {
  it('takes every form in which the API shows times', () => {
    expect(timeOf('1795539436')).to.equal(1_795_539_436_000);
    expect(timeOf('1795539436.679')).to.equal(1_795_539_436_679);
    expect(timeOf('2026-11-24T16:57:16.791Z')).to.equal(Date.parse('2026-11-24T16:57:16.791Z'));
    expect(timeOf('')).to.equal(undefined);
  });

  for (const value of ['abc', '-5', '1e3', 'NaN', '1.', '.5', '1.2.3', '2026-13-01T00:00:00Z']) {
    it(`is refused as ${value}`, () => {
      expect(() => timeOf(value)).to.throw('at must be Unix seconds or an RFC 3339 time');
    });
  }
});

describe('the parameters of a request', () => {
  it('are refused when they are unknown, also by the name of a member of every object, or repeated', () => {
    const check = (query: string) => () => {
      assertKnownParameters(new URLSearchParams(query), ['entity', 'since']);
    };
    expect(check('constructor=1')).to.throw('unknown parameter "constructor"; the known ones are entity, since');
    expect(check('entity=a&entity=b')).to.throw('entity must not be given more than once');
    expect(check('entity=a&since=1')).not.to.throw();
  });
});
