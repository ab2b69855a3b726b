import { expect } from 'chai';
import fc from 'fast-check';
import { BlindTime, UNKNOWN_INPUT } from '../../../src/actors/time/blind-time.ts';

const FIRST = { beginMs: 1_000, endMs: 2_000 };
const SECOND = { beginMs: 5_000, endMs: 9_000 };

describe('blind time', () => {
  it('moves a deadline to count from the end of the first interval after its input', () => {
    const blind = new BlindTime([FIRST, SECOND]);
    expect(blind.graceMs(500)).to.equal(1_500);
    expect(blind.graceMs(1_000)).to.equal(1_000);
    expect(blind.graceMs(2_000)).to.equal(7_000);
    expect(blind.graceMs(9_000)).to.equal(0);
  });

  it('has the length of the interval that moved the deadline', () => {
    const blind = new BlindTime([FIRST, SECOND]);
    expect([500, 2_000, 9_000].map((sinceMs) => blind.lengthMs(sinceMs))).to.deep.equal([1_000, 4_000, 0]);
  });

  it('gives an earlier deadline the grace of an interval only if the interval had ended by then', () => {
    const blind = new BlindTime([FIRST, SECOND]);
    expect(blind.graceMsAt(500, 2_000)).to.equal(1_500);
    expect(blind.graceMsAt(500, 1_999)).to.equal(0);
    expect(blind.graceMsAt(2_000, 8_999)).to.equal(0);
    expect(blind.graceMsAt(9_000, 20_000)).to.equal(0);
  });

  it('gives no grace when there was none', () => {
    expect(new BlindTime([]).graceMs(0)).to.equal(0);
  });

  it('gives no grace to a deadline that counts from no input', () => {
    expect(new BlindTime([FIRST]).graceMs(Infinity)).to.equal(0);
  });

  it('gives no grace to a deadline whose input is not known, and keeps every interval for it', () => {
    const blind = new BlindTime([FIRST, SECOND]);
    expect([blind.graceMs(UNKNOWN_INPUT), blind.lengthMs(UNKNOWN_INPUT)]).to.deep.equal([0, 0]);
    blind.keepFirstAfter([Infinity, UNKNOWN_INPUT]);
    expect(blind.intervals).to.deep.equal([FIRST, SECOND]);
  });

  it('gives no further grace for intervals that are added later', () => {
    const blind = new BlindTime([FIRST]);
    blind.add(SECOND);
    expect(blind.graceMs(500)).to.equal(1_500);
  });

  it('drops intervals that no input counts from, except the last one', () => {
    const blind = new BlindTime([FIRST, SECOND, { beginMs: 10_000, endMs: 11_000 }]);
    blind.keepFirstAfter([500, 700]);
    expect(blind.intervals).to.deep.equal([FIRST, { beginMs: 10_000, endMs: 11_000 }]);
    blind.keepFirstAfter([]);
    expect(blind.intervals).to.deep.equal([{ beginMs: 10_000, endMs: 11_000 }]);
  });

  it('gives the same grace to every input whose intervals it keeps', () => {
    const intervals = fc
      .uniqueArray(fc.nat({ max: 100_000 }), { maxLength: 20 })
      .map((edges) => edges.toSorted((a, b) => a - b))
      .map((edges) =>
        Array.from({ length: Math.floor(edges.length / 2) }, (_, index) => ({
          beginMs: edges[2 * index] ?? 0,
          endMs: edges[2 * index + 1] ?? 0,
        })),
      );
    fc.assert(
      fc.property(intervals, fc.array(fc.nat({ max: 110_000 }), { maxLength: 10 }), (list, inputs) => {
        const blind = new BlindTime(list);
        const before = inputs.map((sinceMs) => blind.graceMs(sinceMs));
        blind.keepFirstAfter(inputs);
        expect(inputs.map((sinceMs) => blind.graceMs(sinceMs))).to.deep.equal(before);
        expect(blind.intervals.length).to.be.at.most(inputs.length + 1);
      }),
    );
  });
});
