import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Turns } from '../../src/pipeline/turns.ts';

const MIB = 1024 * 1024;

describe('the spreading of work over ticks of the event loop', () => {
  /** Begins work with events of these sizes, and returns how many had begun in each turn. */
  async function begunPerTurn(sizes: number[]): Promise<number[]> {
    const turns = new Turns();
    let begun = 0;
    for (const bytes of sizes) {
      const wait = turns.take(bytes);
      if (wait === undefined) begun += 1;
      else void wait.then(() => (begun += 1));
    }
    const counts = [begun];
    for (let turn = 0; begun < sizes.length && turn < 100; turn += 1) {
      await nextTurn();
      counts.push(begun);
    }
    return counts;
  }

  it('takes up to fifty small events in one tick', async () => {
    expect(await begunPerTurn(Array.from({ length: 120 }, () => 100))).to.deep.equal([50, 100, 120]);
  });

  it('takes events of two MiB together, and a larger one alone', async () => {
    expect(await begunPerTurn([MIB, MIB, MIB, 10 * MIB, 100])).to.deep.equal([2, 3, 4, 5]);
  });
});
