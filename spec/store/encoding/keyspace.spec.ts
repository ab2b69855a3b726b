import { expect } from 'chai';
import { afterPrefix } from '../../../src/store/encoding/keyspace.ts';

describe('the end of a key range', () => {
  for (const prefix of ['', 'silenced/default/', 'silenced/default/entity:web-1:']) {
    it(`is after every key that starts with "${prefix}"`, () => {
      const end = afterPrefix(prefix);
      for (const rest of ['', '*', '0', 'z', 'zz:z/z']) expect(`${prefix}${rest}` < end, rest).to.equal(true);
    });
  }

  it('excludes keys that only have a similar start', () => {
    const isWithin = (key: string, prefix: string): boolean => key >= prefix && key < afterPrefix(prefix);
    expect(isWithin('silenced/default/entity:web-1:*', 'silenced/default/entity:web-1:')).to.equal(true);
    expect(isWithin('silenced/default/entity:web-10:*', 'silenced/default/entity:web-1:')).to.equal(false);
    expect(isWithin('silenced/default0/x:*', 'silenced/default/')).to.equal(false);
  });
});
