import { expect } from 'chai';
import { emptyPuts } from '../../src/store/decision.ts';
import { EventStore } from '../../src/store/event-store.ts';
import { hiddenBy } from '../../src/store/pending-deletions.ts';
import { VisibleStore } from '../../src/store/visible-store.ts';
import { CountingStore } from '../support/counting-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { HOST, NAMESPACE, storedName, storeObjects } from '../support/stored-objects.ts';

const ALL = { from: '', to: '~' };
const EVENTS = 300;
const ROUNDS = 200;
const PREFIX = `${NAMESPACE}/${HOST}/`;
const deletion = (id: number, after = '') => ({ id, event: 'entity.deleted' as const, cause: { user: 'ann' }, after });

describe('a store with pending deletions', () => {
  async function filled(): Promise<CountingStore> {
    const store = new CountingStore(new MemoryStore());
    await storeObjects(store, 'events', { from: 0, to: EVENTS });
    return store;
  }

  it('has the keys, pages and records that remain when the hidden ones are left out', async () => {
    const random = SeededRandom.fresh();
    const store = await filled();
    const visible = new VisibleStore(store);
    for (let round = 0; round < ROUNDS; round += 1) {
      const puts = emptyPuts();
      const name = `${PREFIX}${storedName(random.below(EVENTS))}`;
      const prefix = random.oneIn(3) ? `${NAMESPACE}/` : PREFIX;
      if (random.oneIn(2)) puts.renewals.set(`events/${name}`, { id: random.below(6) });
      else puts.deletions.set(`events/${prefix}`, random.oneIn(4) ? null : deletion(random.below(6), name));
      await store.write({ puts, ledger: [] });
      const left = [...store.keys('events', ALL)].filter((key) => hiddenBy(store, 'events', key) === undefined);
      expect([...visible.keys('events', ALL)], `seed ${random.seed}`).to.deep.equal(left);
      expect([...visible.range('events', ALL)].map(({ key }) => key)).to.deep.equal(left);
      const [offset, limit] = [random.below(20), random.below(20)];
      expect([...visible.keys('events', { ...ALL, offset, limit })]).to.deep.equal(left.slice(offset, offset + limit));
      expect(visible.get('events', name) !== undefined).to.equal(left.includes(name));
    }
  });

  it('skips the hidden events of a list without reading them', async () => {
    const store = await filled();
    const puts = emptyPuts();
    puts.deletions.set(`events/${PREFIX}`, deletion(1));
    puts.renewals.set(`events/${PREFIX}${storedName(EVENTS - 1)}`, { id: 1 });
    await store.write({ puts, ledger: [] });
    store.reads = 0;
    expect([...new EventStore(store).list({ namespace: NAMESPACE }).items]).to.have.lengthOf(1);
    expect(store.reads).to.be.below(50);
  });
});
