import { expect } from 'chai';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { StateWriter } from '../../../src/store/records/state-writer.ts';

const packr = new Packr({ useRecords: false });

/** Values as a state can have, and others that `msgpackr` writes. */
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.nat(),
    fc.nat({ max: 0xffff_ffff }),
    fc.double(),
    fc.constantFrom(-0, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, undefined, null, true),
    fc.string(),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ minLength: 30, maxLength: 70_000, unit: fc.constantFrom('a', 'é') }),
    fc.array(tie('value'), { maxLength: 40 }),
    fc.dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { noNullPrototype: true }),
  ),
})).value;

describe('the writer of states', () => {
  it('writes any value as msgpackr reads it', () => {
    const writer = new StateWriter();
    fc.assert(
      fc.property(values, (value) => {
        expect(packr.unpack(writer.write(value))).to.deep.equal(packr.unpack(packr.pack(value)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('writes a list that is longer than its first memory', () => {
    const statuses = Array.from({ length: 70_000 }, (_, index) => index * 100_000);
    const shorter = statuses.slice(0, 65_535);
    const writer = new StateWriter();
    expect(packr.unpack(writer.write(statuses))).to.deep.equal(statuses);
    expect(packr.unpack(writer.write(shorter))).to.deep.equal(shorter);
  });
});
