import { expect } from 'chai';
import { ActorSystem } from '../../../src/actors/system.ts';
import { DELETED_PER_STEP } from '../../../src/actors/events/begin-deletion.ts';
import { type Event, parseEventShape } from '../../../src/resources/event.ts';
import { silencedName, silencedWithDefaults } from '../../../src/resources/silenced.ts';
import { EventStore } from '../../../src/store/event-store.ts';
import { eventKey } from '../../../src/store/encoding/keyspace.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { ResourceStore } from '../../../src/store/resource-store.ts';
import type { WriteSet } from '../../../src/store/commit/transactional-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { readLedger } from '../../support/read-ledger.ts';

const ROUNDS = 8;
/** Silences of `a` on checks of `b:…` have the names of silences of `a:b`. */
const ENTITIES = ['a', 'a-b', 'a:b'];
const NAMESPACES = ['default', 'other'];
/** More events of one entity than one decision deletes. */
const CHECKS = 3 * DELETED_PER_STEP;
/** Beside the deleted items, a step writes the deletion and the alive mark. */
const PUTS_BESIDE = 10;
const LONG_MS = 100_000;
const TTL_S = 86_400;

/** A store that notes the most events that one write deletes. */
class ObservedStore extends MemoryStore {
  mostDeleted = 0;

  override write(set: WriteSet): Promise<void> {
    const deleted = [...set.puts.events.values()].filter((value) => value === null).length;
    this.mostDeleted = Math.max(this.mostDeleted, deleted);
    return super.write(set);
  }
}

const eventOf = (namespace: string, entity: string, check: string): Event =>
  parseEventShape({
    timestamp: 1,
    entity: { entity_class: 'proxy', metadata: { name: entity, namespace } },
    check: { metadata: { name: check, namespace }, interval: 60, ttl: TTL_S, status: 1, executed: 1 },
    metadata: { namespace },
  });

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** A running system, and the events and deletions that it must show. */
class Modelled {
  readonly store = new ObservedStore();
  readonly clock = new ManualClock(1_700_000_000_000);
  /** The keys of the events that readers must see, with the number of their results. */
  readonly expected = new Map<string, number>();
  /** The keys of the silences that readers must see, with their subscriptions. */
  readonly silences = new Map<string, string>();
  /** How many silences were deleted with their entities. */
  silencesDeleted = 0;
  /** How often the event of a key was deleted, since the beginning. */
  readonly deleted = new Map<string, number>();
  readonly #log = new RecordedLog();
  #system = this.#newSystem();

  #newSystem(): ActorSystem {
    return new ActorSystem({ store: this.store, clock: this.clock, log: this.#log, backendName: 'backend' });
  }

  get commands(): ActorSystem['commands'] {
    return this.#system.commands;
  }

  async start(): Promise<void> {
    await this.#system.start();
  }

  /** Ends the process: nothing of it runs on. */
  async crash(): Promise<void> {
    await this.#system.stop();
    this.#system = this.#newSystem();
    await this.#system.start();
  }

  async put(namespace: string, entity: string, check: string): Promise<void> {
    const key = eventKey(namespace, entity, check);
    this.expected.set(key, (this.expected.get(key) ?? 0) + 1);
    await this.commands.putEvent(eventOf(namespace, entity, check), 'ann');
  }

  async silence(namespace: string, entity: string, check: string): Promise<void> {
    const subscription = `entity:${entity}`;
    const silenced = silencedWithDefaults({ metadata: { namespace }, subscription, check });
    const key = `${namespace}/${silencedName(silenced)}`;
    this.silences.set(key, subscription);
    await this.commands.putSilence(silenced, 'ann');
  }

  /** Notes that all events whose keys begin with `prefix` are deleted. */
  #expectDeleted(prefix: string): void {
    for (const key of this.expected.keys()) {
      if (!key.startsWith(prefix)) continue;
      this.expected.delete(key);
      this.deleted.set(key, (this.deleted.get(key) ?? 0) + 1);
    }
  }

  async deleteEntity(namespace: string, entity: string): Promise<void> {
    this.#expectDeleted(`${namespace}/${entity}/`);
    const deleted = await this.commands.deleteEntity(namespace, entity, 'bob').then(
      () => true,
      () => false,
    );
    if (!deleted) return;
    for (const [key, subscription] of this.silences) {
      if (!key.startsWith(`${namespace}/`) || subscription !== `entity:${entity}`) continue;
      this.silences.delete(key);
      this.silencesDeleted += 1;
    }
  }

  async deleteNamespace(namespace: string): Promise<void> {
    for (const entity of ENTITIES) {
      await this.put(namespace, entity, 'last');
      await this.deleteEntity(namespace, entity);
    }
    await this.commands.deleteResource('namespaces', undefined, namespace, 'bob');
    await this.commands.putResource('namespaces', { name: namespace }, 'ann');
  }

  /** Compares what readers see with what they must see. */
  expectVisible(): void {
    const events = new EventStore(this.store);
    for (const namespace of NAMESPACES) {
      const seen = [...events.list({ namespace }).items].map(({ entity, check }) => [
        eventKey(namespace, entity.metadata.name ?? '', check.metadata.name ?? ''),
        check.occurrences,
      ]);
      const silences = new ResourceStore(this.store).list('silenced', namespace).items;
      const names = silences.map(({ metadata, subscription }) => [`${namespace}/${metadata.name}`, subscription]);
      const silenced = [...this.silences].filter(([key]) => key.startsWith(`${namespace}/`));
      expect(names).to.deep.equal(silenced.toSorted(byKey));
      const expected = [...this.expected].filter(([key]) => key.startsWith(`${namespace}/`));
      expect(seen).to.deep.equal(expected.toSorted(byKey));
    }
  }

  /** Lets all deletions end, and compares what is stored and recorded with what must be. */
  async expectDone(): Promise<void> {
    await this.clock.advance(LONG_MS);
    this.expectVisible();
    const all = { from: '', to: '~' };
    expect([...this.store.keys('events', all)]).to.have.members([...this.expected.keys()]);
    expect([...this.store.keys('deletions', all), ...this.store.keys('renewals', all)]).to.deep.equal([]);
    const recorded = readLedger(this.store, { actor: 'check-state' }).filter(({ to }) => to === null);
    const counts = new Map<string, number>();
    for (const { key } of recorded) counts.set(key, (counts.get(key) ?? 0) + 1);
    expect(counts).to.deep.equal(this.deleted);
    expect(new Set(recorded.map(({ cause }) => JSON.stringify(cause)))).to.deep.equal(new Set(['{"user":"bob"}']));
    const ended = readLedger(this.store, { actor: 'check-ttl' }).filter(({ to }) => to === 'deregistered');
    expect(ended).to.have.lengthOf(recorded.length);
    expect(this.#system.stats().armed.get('check-ttl') ?? 0).to.equal(this.expected.size);
    const silences = readLedger(this.store, { actor: 'silence' });
    const endedSilences = silences.filter(({ event }) => event === 'entity.deleted');
    expect(endedSilences).to.have.lengthOf(this.silencesDeleted);
    expect(endedSilences.filter(({ cause }) => JSON.stringify(cause) !== '{"user":"bob"}')).to.deep.equal([]);
    for (const namespace of NAMESPACES) {
      const count = [...this.silences.keys()].filter((key) => key.startsWith(`${namespace}/`)).length;
      const recorded = this.store.get('resources', `silence-counts/${namespace}`);
      expect(recorded ?? { count: 0 }).to.deep.equal({ count });
    }
    expect(this.#log.errors).to.deep.equal([]);
    expect(verify(this.store.ledgerEntries()).ok).to.equal(true);
  }
}

describe('F22: a deletion of many events', function () {
  this.timeout(120_000);
  const random = SeededRandom.fresh();

  it(`deletes few events at once, hides all of them at once and keeps those that follow, through restarts (seed ${random.seed})`, async () => {
    const model = new Modelled();
    await model.start();
    for (const name of NAMESPACES) await model.commands.putResource('namespaces', { name }, 'ann');
    const any = (items: readonly string[]): string => items[random.below(items.length)] ?? '';
    const putSome = async (count: number): Promise<void> => {
      const [namespace, entity] = [any(NAMESPACES), any(ENTITIES)];
      const puts: Promise<void>[] = [];
      for (let n = 0; n < count; n += 1) puts.push(model.put(namespace, entity, `c${random.below(CHECKS)}`));
      await Promise.all(puts);
    };
    const silenceSome = async (count: number): Promise<void> => {
      const [namespace, entity] = [any(NAMESPACES), any(ENTITIES)];
      const puts: Promise<void>[] = [];
      for (let n = 0; n < count; n += 1) {
        puts.push(model.silence(namespace, entity, `${any(['', 'b:'])}c${random.below(CHECKS)}`));
      }
      await Promise.all(puts);
    };
    // Whatever the seed, something is deleted.
    const [namespace, entity] = [any(NAMESPACES), any(ENTITIES)];
    await model.put(namespace, entity, 'first');
    await model.deleteEntity(namespace, entity);
    for (let round = 0; round < ROUNDS; round += 1) {
      await putSome(random.below(2 * CHECKS));
      await silenceSome(random.below(CHECKS));
      if (random.oneIn(2)) await model.deleteEntity(any(NAMESPACES), any(ENTITIES));
      model.expectVisible();
      if (random.oneIn(6)) await model.deleteNamespace(any(NAMESPACES));
      model.expectVisible();
      await model.clock.advance(random.below(6));
      await putSome(random.below(CHECKS));
      await silenceSome(random.below(CHECKS));
      if (random.oneIn(4)) await model.crash();
      model.expectVisible();
    }
    await model.expectDone();
    expect(model.store.mostDeleted).to.be.within(1, DELETED_PER_STEP + PUTS_BESIDE);
  });

  it('is carried out in steps even when the events are not durable yet', async () => {
    const model = new Modelled();
    await model.start();
    await model.commands.putResource('namespaces', { name: 'default' }, 'ann');
    const puts = Array.from({ length: CHECKS }, (_, n) => model.put('default', 'a', `c${n}`));
    const deletion = model.deleteEntity('default', 'a');
    await Promise.all([...puts, deletion]);
    model.expectVisible();
    await model.expectDone();
    expect(model.store.mostDeleted).to.be.within(1, DELETED_PER_STEP);
  });

  it('ends each event with the event and the cause of the first deletion that found it', async () => {
    const model = new Modelled();
    await model.start();
    await model.commands.putResource('namespaces', { name: 'default' }, 'ann');
    for (let n = 0; n < CHECKS; n += 1) await model.put('default', 'a', `c${n}`);
    const again = ['c1', 'c140'];
    await model.commands.deleteEntity('default', 'a', 'bob');
    for (const check of again) await model.commands.putEvent(eventOf('default', 'a', check), 'ann');
    await model.commands.deleteEntity('default', 'a', 'carl');
    await model.clock.advance(LONG_MS);
    const ended = readLedger(model.store, { actor: 'check-state' }).filter(({ to }) => to === null);
    expect(ended).to.have.lengthOf(CHECKS + again.length);
    const byCarl = ended.filter(({ cause }) => JSON.stringify(cause) === '{"user":"carl"}');
    expect(byCarl.map(({ key }) => key)).to.have.members(again.map((check) => `default/a/${check}`));
    expect(ended.filter(({ cause }) => JSON.stringify(cause) === '{"user":"bob"}')).to.have.lengthOf(CHECKS);
  });
});
