import { expect } from 'chai';
import { afterPrefix } from '../../src/store/keyspace.ts';

describe('the keys after a prefix', () => {
  for (const prefix of ['', 'silenced/default/', 'silenced/default/entity:web-1:']) {
    it(`begin after all that begin with "${prefix}", and before all others`, () => {
      const end = afterPrefix(prefix);
      for (const rest of ['', '*', '0', 'z', 'zz:z/z']) expect(`${prefix}${rest}` < end, rest).to.equal(true);
    });
  }

  it('leave out what only begins alike', () => {
    const isWithin = (key: string, prefix: string): boolean => key >= prefix && key < afterPrefix(prefix);
    expect(isWithin('silenced/default/entity:web-1:*', 'silenced/default/entity:web-1:')).to.equal(true);
    expect(isWithin('silenced/default/entity:web-10:*', 'silenced/default/entity:web-1:')).to.equal(false);
    expect(isWithin('silenced/default0/x:*', 'silenced/default/')).to.equal(false);
  });
});
