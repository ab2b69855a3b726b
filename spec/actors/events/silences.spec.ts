import { expect } from 'chai';
import { CurrentDecision } from '../../../src/actors/core/current-decision.ts';
import { Decider } from '../../../src/actors/core/decider.ts';
import { GuardLog } from '../../../src/actors/core/guard-log.ts';
import type { ActorKinds } from '../../../src/actors/core/actor-kind.ts';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { DEFAULT_SETTINGS } from '../../../src/actors/core/settings.ts';
import { TickBook } from '../../../src/actors/core/tick-book.ts';
import { EntityRoom } from '../../../src/actors/core/entity-room.ts';
import { deleteSilence, putSilence } from '../../../src/actors/administration/silence-changes.ts';
import { endSilencesOfEntity, silence } from '../../../src/actors/events/silences.ts';
import { NotFound, StoreUnavailable } from '../../../src/resources/errors.ts';
import { type CheckEvent, hasCheck, parseEventShape } from '../../../src/resources/event.ts';
import { type Silenced, silencedName, silencedWithDefaults } from '../../../src/resources/silenced.ts';
import { Committer } from '../../../src/store/commit/committer.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { resourceKey, silenceCountKey } from '../../../src/store/encoding/keyspace.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const STEPS = 20_000;
const WRITES_PER_FAILURE = 5;
const STEPS_PER_TICK = 6;
const NOW_MS = 1_700_000_000_000;

const SUBSCRIPTIONS = ['', 'linux', 'web', 'entity:a', 'entity:b'];
const CHECKS = ['disk', 'load', ''];
const ENTITIES = ['a', 'b', 'c'];

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const CAUSE = { user: 'ann' };

function eventOf(entity: string, check: string): CheckEvent {
  const event = parseEventShape({
    entity: { entity_class: 'agent', metadata: { name: entity, namespace: 'default' }, subscriptions: ['linux'] },
    check: { metadata: { name: check, namespace: 'default' }, subscriptions: ['linux'], interval: 60 },
  });
  if (!hasCheck(event)) throw new Error('an event without a check');
  return event;
}

type Model = ReadonlyMap<string, Silenced>;

/** Makes random decisions on silences over a store whose writes sometimes fail, and tracks the expected result. */
class ModelRun {
  readonly random: SeededRandom;
  readonly store = new MemoryStore();
  readonly committer: Committer;
  failedWrites = 0;
  dropped = 0;
  silencedEvents = 0;
  /** The silences that the next decision must see, and those of the last durable decision. */
  #seen: Model = new Map();
  #durable: Model = new Map();
  readonly #decider: Decider;
  readonly #waiting: Promise<void>[] = [];

  constructor(random: SeededRandom) {
    this.random = random;
    const nowMs = () => NOW_MS;
    this.committer = new Committer({
      store: this.store,
      nowMs,
      after: (_, fire) => setImmediate(fire),
      listener: {
        committed: () => undefined,
        lost: () => {
          this.#seen = this.#durable;
        },
        recovered: () => undefined,
      },
    });
    this.#decider = new Decider({
      committer: this.committer,
      // No decision in this test wakes an actor.
      kinds: {} as ActorKinds,
      guards: new GuardLog(),
      nowMs,
      steadyMs: nowMs,
      current: new CurrentDecision(),
      failures: { handleAll: () => undefined },
      pressure: { full: undefined, isOutboxFull: false },
      quarantine: { has: () => false },
      deadlines: { arm: () => undefined },
      eviction: { keepBound: () => undefined },
      settings: DEFAULT_SETTINGS,
      ticks: new TickBook(),
      room: new EntityRoom(DEFAULT_SETTINGS.entityUseLimits, () => []),
    });
  }

  async play(): Promise<void> {
    const puts = emptyPuts();
    puts.resources.set(resourceKey('namespaces', undefined, 'default'), { name: 'default' });
    await this.store.write({ puts, ledger: [] });
    this.#failSome();
    for (let step = 0; step < STEPS; step += 1) {
      while (this.committer.isFailing) await nextTick();
      this.#step();
      if (this.random.oneIn(STEPS_PER_TICK)) await nextTick();
    }
    await this.settled();
  }

  #failSome(): void {
    this.store.beforeWrite = async () => {
      for (let ticks = this.random.below(4); ticks > 0; ticks -= 1) await nextTick();
      if (!this.random.oneIn(WRITES_PER_FAILURE)) return;
      this.failedWrites += 1;
      throw new Error('no space left on device');
    };
  }

  /** Waits until no decision is open or in flight. */
  async settled(): Promise<void> {
    await this.committer.drained();
    while (this.committer.isFailing) await nextTick();
    await Promise.all(this.#waiting);
  }

  #step(): void {
    const subscription = this.#oneOf(SUBSCRIPTIONS);
    const check = subscription === '' ? this.#oneOf(['disk', 'load']) : this.#oneOf(CHECKS);
    const entry = silencedWithDefaults({
      metadata: { namespace: 'default' },
      subscription,
      check,
      expire_on_resolve: this.random.oneIn(2),
    });
    const changed = new Map(this.#seen);
    const what = this.random.below(6);
    if (what === 0) {
      changed.set(silencedName(entry), entry);
      this.#decide(changed, (ctx) => {
        putSilence(ctx, entry, 'ann');
      });
    } else if (what === 1 && changed.delete(silencedName(entry))) {
      this.#decide(changed, (ctx) => {
        deleteSilence(ctx, 'default', silencedName(entry));
      });
    } else if (what === 2 && this.random.oneIn(10)) {
      const entity = this.#oneOf(['a', 'b']);
      for (const [name, { subscription: own }] of this.#seen) if (own === `entity:${entity}`) changed.delete(name);
      this.#decide(changed, (ctx) => {
        endSilencesOfEntity(ctx, 'default', entity, 'entity.deleted');
      });
    } else if (what === 3) this.#dropOne(entry);
    else this.#merge(this.#oneOf(ENTITIES), this.#oneOf(['disk', 'load', 'cpu']));
  }

  #oneOf(values: readonly string[]): string {
    return values[this.random.below(values.length)] ?? '';
  }

  /** Runs a decision whose result is visible at once and durable with its batch. */
  #decide(after: Model, run: (ctx: DecisionContext) => void): void {
    const { durable } = this.#decider.decide({ cause: CAUSE }, run);
    this.#seen = after;
    this.#waiting.push(
      durable.then(
        () => {
          this.#durable = after;
        },
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
        },
      ),
    );
  }

  #dropOne(entry: Silenced): void {
    try {
      this.#decider.decide({ cause: CAUSE }, (ctx) => {
        putSilence(ctx, entry, 'ann');
        deleteSilence(ctx, 'default', silencedName(entry));
        deleteSilence(ctx, 'default', silencedName(entry));
      });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.dropped += 1;
    }
  }

  #merge(entity: string, check: string): void {
    const isResolution = this.random.oneIn(3);
    const acting = ['*', `entity:${entity}`, 'linux']
      .flatMap((subscription) => [`${subscription}:*`, `${subscription}:${check}`])
      .filter((name) => this.#seen.has(name));
    const ending = acting.filter((name) => isResolution && this.#seen.get(name)?.expire_on_resolve === true);
    const after = new Map([...this.#seen].filter(([name]) => !ending.includes(name)));
    let names: string[] = [];
    this.#decide(after, (ctx) => {
      names = silence(ctx, eventOf(entity, check), { isResolution, key: `default/${entity}/${check}`, cause: CAUSE });
    });
    expect(names).to.have.members(acting.filter((name) => !ending.includes(name)));
    if (names.length > 0) this.silencedEvents += 1;
  }

  /** Returns the stored silences, and the expected ones. */
  outcome() {
    const keys = this.store.keys('resources', { from: 'silenced/', to: 'silenced0' });
    return {
      stored: [...keys].map((key) => key.slice('silenced/default/'.length)),
      expected: [...this.#seen.keys()].sort(),
      count: (this.store.get('resources', silenceCountKey('default')) as { count: number } | undefined)?.count ?? 0,
    };
  }
}

describe('the silences that apply to an event', () => {
  it('follow all earlier decisions, even when decisions are dropped and writes fail', async function () {
    this.timeout(60_000);
    const run = new ModelRun(SeededRandom.fresh());
    try {
      await run.play();
      const { stored, expected, count } = run.outcome();
      expect(stored).to.deep.equal(expected);
      expect(count).to.equal(expected.length);
      expect(Math.min(run.failedWrites, run.dropped, run.silencedEvents)).to.be.above(100);
    } catch (error) {
      throw new Error(`MON_SPEC_SEED=${run.random.seed}`, { cause: error });
    }
  });
});
