import { expect } from 'chai';
import { MemoryGuard, type MemorySource } from '../../../src/actors/supervision/memory-guard.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const MIB = 2 ** 20;

/** Memory that a test fills, in MiB. What is garbage goes with a collection. */
class Memory implements MemorySource {
  needed = { heap: 0, process: 0 };
  garbage = 0;
  collections = 0;

  read() {
    const { heap, process } = this.needed;
    return {
      heap: { usedBytes: (heap + this.garbage) * MIB, limitBytes: 100 * MIB },
      process: { usedBytes: (process + this.garbage) * MIB, limitBytes: 200 * MIB },
    };
  }

  collect(): void {
    this.collections += 1;
    this.garbage = 0;
  }
}

describe('the guard of the memory', () => {
  let memory: Memory;
  let clock: ManualClock;
  let log: RecordedLog;
  let guard: MemoryGuard;

  beforeEach(() => {
    [memory, clock, log] = [new Memory(), new ManualClock(), new RecordedLog()];
    guard = new MemoryGuard({ source: memory, clock, log });
    guard.start();
  });

  afterEach(() => {
    guard.stop();
  });

  const fullAfter = async (ms: number): Promise<boolean> => {
    await clock.advance(ms);
    return guard.isFull;
  };

  for (const [name, most] of [
    ['heap', 100],
    ['process', 200],
  ] as const) {
    it(`reports that it is full at nine tenths of the ${name}, until it is below 85 percent`, async () => {
      memory.needed[name] = 0.89 * most;
      expect(await fullAfter(1_000)).to.equal(false);
      memory.needed[name] = 0.9 * most;
      expect(await fullAfter(1_000)).to.equal(true);
      memory.needed[name] = 0.86 * most;
      expect(await fullAfter(20_000)).to.equal(true);
      memory.needed[name] = 0.84 * most;
      expect(await fullAfter(1_000)).to.equal(false);
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['error', 'warn']);
    });
  }

  it('collects garbage before it reports that the memory is full', async () => {
    memory.needed.heap = 40;
    memory.garbage = 55;
    expect(await fullAfter(1_000)).to.equal(false);
    expect(memory.collections).to.equal(1);
  });

  it('collects garbage once in ten seconds, also while the memory is full', async () => {
    memory.needed.heap = 95;
    expect(await fullAfter(60_000)).to.equal(true);
    expect(memory.collections).to.equal(6);
    memory.needed.heap = 40;
    memory.garbage = 55;
    expect(await fullAfter(10_000)).to.equal(false);
  });

  it('collects nothing while there is memory', async () => {
    await fullAfter(60_000);
    expect(memory.collections).to.equal(0);
  });
});
