import { expect } from 'chai';
import { silencedWithDefaults } from '../../src/resources/silenced.ts';
import { emptyPuts } from '../../src/store/commit/decision.ts';
import { EventStore } from '../../src/store/event-store.ts';
import { hiddenBy } from '../../src/store/records/pending-deletions.ts';
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

  /** Stores silences of two entities whose names are ambiguous, and hides those of the first one. */
  async function silenced(): Promise<CountingStore> {
    const store = new CountingStore(new MemoryStore());
    const puts = emptyPuts();
    for (let n = 0; n < EVENTS; n += 1) {
      const entity = n % 3 === 0 ? 'a:b' : 'a';
      const check = n % 10 === 1 ? `b:c${n}` : `c${n}`;
      const metadata = { namespace: NAMESPACE, name: `entity:${entity}:${check}` };
      const silence = silencedWithDefaults({ metadata, subscription: `entity:${entity}`, check });
      puts.resources.set(`silenced/${NAMESPACE}/${metadata.name}`, { ...silence, state: 'active' });
    }
    puts.deletions.set(`silences/${NAMESPACE}/entity:a:`, deletion(5));
    await store.write({ puts, ledger: [] });
    return store;
  }

  it('has the silences that remain when the hidden ones are left out, whatever their names are', async () => {
    const random = SeededRandom.fresh();
    const store = await silenced();
    const visible = new VisibleStore(store);
    const range = { from: 'silenced/', to: 'silenced0' };
    const all = [...store.keys('resources', range)];
    for (let round = 0; round < ROUNDS; round += 1) {
      const puts = emptyPuts();
      const item = (all[random.below(all.length)] ?? '').slice('silenced/'.length);
      const prefix = `${NAMESPACE}/entity:${random.oneIn(2) ? 'a' : 'a:b'}:`;
      if (random.oneIn(2)) puts.renewals.set(`silences/${item}`, { id: random.below(8) });
      else puts.deletions.set(`silences/${prefix}`, deletion(random.below(8), item));
      await store.write({ puts, ledger: [] });
      const left = all.filter((key) => hiddenBy(store, 'silences', key.slice('silenced/'.length)) === undefined);
      expect([...visible.keys('resources', range)], `seed ${random.seed}`).to.deep.equal(left);
    }
  });

  it('reads none of the hidden silences whose subscription is clear from the name', async () => {
    const store = await silenced();
    const plain = [...store.keys('resources', ALL)].filter((key) => key.split(':').length === 3).length;
    const before = store.reads;
    const left = [...new VisibleStore(store).keys('resources', { from: 'silenced/', to: 'silenced0', limit: 1 })];
    expect(left).to.have.lengthOf(1);
    // Each look-up of a hidden silence reads its record, its deletion and its renewal, beside the key.
    expect(store.reads - before).to.be.below(EVENTS + 3 * (EVENTS - plain));
  });

  it('reads the renewals of silences once for a list, also when they alternate with hidden ones', async () => {
    const store = await silenced();
    const puts = emptyPuts();
    const range = { from: 'silenced/', to: 'silenced0' };
    for (const [n, key] of [...store.keys('resources', range)].entries()) {
      if (n % 2 === 0) puts.renewals.set(`silences/${key.slice('silenced/'.length)}`, { id: 5 });
    }
    await store.write({ puts, ledger: [] });
    const before = store.reads;
    expect([...new VisibleStore(store).keys('resources', range)]).to.have.length.above(EVENTS / 2);
    // Each renewal is read once more, in addition to the look-ups.
    expect(store.reads - before).to.be.below(5 * EVENTS);
  });
});
