import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { EventPacer } from '../../src/pipeline/event-pacer.ts';

const MIB = 1024 * 1024;

describe('the event pacer', () => {
  /** Begins work with events of these sizes, and returns how many had begun after each tick. */
  async function begunAfterTicks(sizes: number[]): Promise<number[]> {
    const pacer = new EventPacer();
    let begun = 0;
    for (const bytes of sizes) {
      const wait = pacer.admit(bytes);
      if (wait === undefined) begun += 1;
      else void wait.then(() => (begun += 1));
    }
    const counts = [begun];
    for (let tick = 0; begun < sizes.length && tick < 100; tick += 1) {
      await nextTick();
      counts.push(begun);
    }
    return counts;
  }

  it('admits up to fifty small events in one tick', async () => {
    expect(await begunAfterTicks(Array.from({ length: 120 }, () => 100))).to.deep.equal([50, 100, 120]);
  });

  it('admits events of two MiB together, and a larger one alone', async () => {
    expect(await begunAfterTicks([MIB, MIB, MIB, 10 * MIB, 100])).to.deep.equal([2, 3, 4, 5]);
  });
});
