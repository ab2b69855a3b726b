import { expect } from 'chai';
import { countKeys } from '../../src/store/key-pages.ts';
import { CountingStore } from '../support/counting-store.ts';
import { perSuite } from '../support/fixture.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { storeObjects } from '../support/stored-objects.ts';

describe('a count of keys', () => {
  const CHECKS = { table: 'resources', prefix: 'checks/default/' } as const;
  const store = perSuite(async () => {
    const counting = new CountingStore(new MemoryStore());
    await storeObjects(counting, 'checks', { from: 0, to: 5_000 });
    return counting;
  });

  it('has all keys of a prefix, and reads at most 1,000 in one tick', async () => {
    expect(await countKeys(store, CHECKS)).to.equal(5_000);
    expect(store.maxReadsPerTick).to.equal(1_000);
  });

  it('has the chosen keys only', async () => {
    expect(await countKeys(store, { ...CHECKS, isCounted: (key) => key.endsWith('0') })).to.equal(500);
  });

  it('ends when nobody waits for it', async () => {
    const before = store.reads;
    let asked = 0;
    await countKeys(store, { ...CHECKS, isDisconnected: () => (asked += 1) > 2 });
    expect(store.reads - before).to.equal(2_000);
  });
});
