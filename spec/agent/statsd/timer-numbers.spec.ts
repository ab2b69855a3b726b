import { expect } from 'chai';
import { STEP_VALUES, timerNumbers } from '../../../src/agent/statsd/timer-numbers.ts';
import { atOnce } from '../../../src/exec/in-slices.ts';

/** The same unordered values at each run, some of them several times. */
const valuesOf = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => ((index * 7_919) % 50_021) / 8 - 1_000);

/** The numbers by the formulas of spec/03 8.3, over values that are sorted at once. */
function expectedOf(values: readonly number[]): Record<string, number> {
  const ascending = values.toSorted((one, other) => one - other);
  const count = ascending.length;
  const add = (some: readonly number[], of: (value: number) => number): number =>
    some.reduce((sum, value) => sum + of(value), 0);
  const lower = ascending.slice(0, Math.floor(0.9 * count + 0.5));
  const mean = add(ascending, (value) => value) / count;
  return {
    min: ascending[0] ?? NaN,
    max: ascending.at(-1) ?? NaN,
    count,
    median: ((ascending[(count - 1) >> 1] ?? NaN) + (ascending[count >> 1] ?? NaN)) / 2,
    sum: add(ascending, (value) => value),
    sum_squares: add(ascending, (value) => value * value),
    stddev: Math.sqrt(add(ascending, (value) => (value - mean) ** 2) / count),
    percentile_count_90: lower.length,
    percentile_sum_90: add(lower, (value) => value),
    percentile_upper_90: lower.at(-1) ?? NaN,
  };
}

describe('the numbers of a timer', () => {
  for (const count of [1, 2, STEP_VALUES, STEP_VALUES + 1, 2 * STEP_VALUES + 3]) {
    it(`are exact for ${count} values`, () => {
      const values = valuesOf(count);
      expect(Object.fromEntries(atOnce(timerNumbers(values, 10)))).to.deep.include(expectedOf(values));
    });
  }

  it('of two million values take a step for each 65,536 that are sorted, merged or added', () => {
    const count = 2_000_000;
    const parts = Math.ceil(count / STEP_VALUES);
    const steps = timerNumbers(Array.from<number>({ length: count }).fill(1), 10);
    let taken = 1;
    while (steps.next().done !== true) taken += 1;
    // The parts are merged in five rounds and added three times, for all values and for nine tenths of them.
    expect(taken).to.be.within(8 * parts, 10 * parts);
  });

  it('of few values take one step', () => {
    expect(timerNumbers([3, 1, 2], 10).next().done).to.equal(true);
  });
});
