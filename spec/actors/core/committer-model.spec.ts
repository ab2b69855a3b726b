import { expect } from 'chai';
import { ActorFailed } from '../../../src/actors/core/actor-failed.ts';
import { StoreUnavailable } from '../../../src/resources/errors.ts';
import type { Source } from '../../../src/store/commit/decision.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { EMPTY_TALLY, stateOf, type Tally, tallied } from './tally-machine.ts';
import { TallyingSystem, type TallyInput } from './tallying-system.ts';
import { readLedger } from '../../support/read-ledger.ts';

const INPUTS = 25_000;
const KEYS = 50;
const SOURCES = 5;
/** One of this many writes fails. */
const WRITES_PER_FAILURE = 7;
const INPUTS_PER_THROW = 10;
const INPUTS_PER_DELETION = 200;
const INPUTS_PER_EVICTION = 6;
/** The average number of inputs in one tick of the event loop. */
const INPUTS_PER_TICK = 8;

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Applies the acknowledged inputs in order and predicts the stored data. */
class Oracle {
  readonly tallies = new Map<string, Tally>();
  readonly received = new Map<string, number>();
  /** `key from -> to` of every transition. */
  readonly transitions: string[] = [];

  play(input: TallyInput): void {
    if (input.type === 'deleted') this.#end(input.key);
    else for (const key of [input.key, input.also]) if (key !== undefined) this.#receive(key, input.value);
  }

  #receive(key: string, value: number): void {
    const before = this.tallies.get(key);
    if (before === undefined) this.transitions.push(`${key} null -> registered`);
    const after = tallied(before ?? EMPTY_TALLY, value);
    const [from, to] = [stateOf(before ?? EMPTY_TALLY), stateOf(after)];
    if (from !== to) this.transitions.push(`${key} ${from} -> ${to}`);
    this.tallies.set(key, after);
    this.received.set(key, (this.received.get(key) ?? 0) + 1);
  }

  #end(key: string): void {
    const tally = this.tallies.get(key);
    if (tally === undefined) return;
    this.transitions.push(`${key} ${stateOf(tally)} -> deregistered`);
    this.tallies.delete(key);
  }
}

/** A source that numbers its inputs and counts their outcomes. */
class NumberedSource implements Source {
  lastNumber = 0;
  acknowledgedUpTo = 0;
  losses = 0;

  acknowledged(n: number): void {
    this.acknowledgedUpTo = n;
  }

  inputsLost(): void {
    this.losses += 1;
  }
}

/** A run of the model with random inputs. It counts the outcomes. */
class ModelRun {
  readonly random: SeededRandom;
  readonly store = new MemoryStore();
  readonly system = new TallyingSystem(this.store);
  readonly oracle = new Oracle();
  readonly sources = Array.from({ length: SOURCES }, () => new NumberedSource());
  readonly outcomes = { acknowledged: 0, lost: 0, failed: 0, refused: 0 };
  writes = 0;
  failedWrites = 0;
  readonly #pending: Promise<void>[] = [];

  constructor(random: SeededRandom) {
    this.random = random;
    this.store.beforeWrite = async () => {
      for (let ticks = random.below(4); ticks > 0; ticks -= 1) await nextTick();
      this.writes += 1;
      if (!random.oneIn(WRITES_PER_FAILURE)) return;
      this.failedWrites += 1;
      throw new Error('no space left on device');
    };
  }

  async play(): Promise<void> {
    const { random, system } = this;
    for (let n = 0; n < INPUTS; n += 1) {
      if (random.oneIn(INPUTS_PER_EVICTION)) system.kinds.entity.evict(this.#key());
      const refused = this.#decide(this.#input());
      if (random.oneIn(refused ? 2 : INPUTS_PER_TICK)) await nextTick();
    }
    while (system.committer.isFailing) await nextTick();
    await system.committer.drained();
    while (system.committer.isFailing) await nextTick();
    await Promise.all(this.#pending);
    system.stop();
  }

  /** Returns whether the store refused the input. */
  #decide(input: TallyInput): boolean {
    const source = this.random.oneIn(2) ? this.sources[this.random.below(SOURCES)] : undefined;
    const number = source === undefined ? undefined : source.lastNumber + 1;
    try {
      const durable = this.system.decide(input, source, number);
      if (source !== undefined && number !== undefined) source.lastNumber = number;
      this.#pending.push(this.#follow(input, durable, source, number));
      return false;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.outcomes.refused += 1;
      else if (error instanceof ActorFailed) this.outcomes.failed += 1;
      else throw error;
      return error instanceof StoreUnavailable;
    }
  }

  async #follow(input: TallyInput, durable: Promise<void>, source: NumberedSource | undefined, number = 0) {
    try {
      await durable;
    } catch (error) {
      expect(error).to.be.instanceOf(StoreUnavailable);
      this.outcomes.lost += 1;
      if (source !== undefined) expect(source.losses).to.be.greaterThan(0);
      return;
    }
    this.outcomes.acknowledged += 1;
    if (source !== undefined) expect(source.acknowledgedUpTo).to.be.at.least(number);
    this.oracle.play(input);
  }

  #key(): string {
    return `model/k${this.random.below(KEYS)}`;
  }

  #input(): TallyInput {
    const { random, system } = this;
    const key = this.#key();
    if (random.oneIn(INPUTS_PER_DELETION)) return { type: 'deleted', key };
    const value = random.below(1_000_000);
    const also = random.oneIn(5) ? this.#key() : undefined;
    // If the decision has a consequence, the consequence throws: the first step must be undone, too.
    if (random.oneIn(INPUTS_PER_THROW)) system.sabotage.prepare(random.oneIn(2) ? 'action' : 'guard', also ?? key);
    return { type: 'received', key, value, ...(also === undefined ? {} : { also }) };
  }
}

describe(`${INPUTS} decisions on a store that fails one write in ${WRITES_PER_FAILURE}`, () => {
  let run: ModelRun;

  before(async function () {
    this.timeout(60_000);
    run = new ModelRun(SeededRandom.fresh());
    await run.play();
  });

  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.error(`failed with MON_SPEC_SEED=${run.random.seed}`);
  });

  it('leave every key as predicted from the acknowledged inputs alone', () => {
    const { store, oracle } = run;
    const differing = Array.from({ length: KEYS }, (_, index) => `model/k${index}`).filter((key) => {
      const stored = store.get('entities', key)?.actor;
      const tally = oracle.tallies.get(key);
      const expected =
        tally === undefined ? undefined : { value: stateOf(tally), context: { key, ...tally }, version: '' };
      return (
        JSON.stringify(stored) !== JSON.stringify(expected) ||
        store.get('meta', `received/${key}`) !== oracle.received.get(key)
      );
    });
    expect(differing).to.deep.equal([]);
  });

  it('leave a ledger without gaps that has exactly the acknowledged transitions, in order', () => {
    const { store, oracle, system } = run;
    expect(verify(store.ledgerEntries())).to.deep.equal({ ok: true, head: store.ledgerHead() });
    expect(system.committer.head).to.deep.equal(store.ledgerHead());
    const stored = readLedger(store).filter(({ event }) => event !== 'actor.failed');
    expect(stored.map(({ key, from, to }) => `${key} ${from ?? 'null'} -> ${to ?? 'null'}`)).to.deep.equal(
      oracle.transitions,
    );
  });

  it('end for every caller as acknowledged, lost, failed or refused', () => {
    const { acknowledged, lost, failed, refused } = run.outcomes;
    expect(acknowledged + lost + failed + refused).to.equal(INPUTS);
    for (const outcome of [acknowledged, lost, failed, refused]) expect(outcome).to.be.greaterThan(INPUTS / 100);
    expect(acknowledged).to.be.greaterThan(INPUTS / 3);
    expect(failed).to.equal(run.system.failures).and.to.equal(run.system.sabotage.strikes);
  });

  it('include failed writes, recoveries and actor failures, recorded and lost', () => {
    const { system, store } = run;
    expect(run.failedWrites).to.be.greaterThan(100);
    expect(run.failedWrites / run.writes).to.be.within(0.1, 0.2);
    expect(system.recoveries).to.be.greaterThan(100);
    const recorded = readLedger(store).filter(({ event }) => event === 'actor.failed').length;
    expect(recorded).to.be.greaterThan(0);
    expect(recorded + system.unrecordedFailures).to.be.at.most(system.failures);
  });

  it('notify each source of its losses', () => {
    for (const source of run.sources) {
      expect(source.losses).to.be.greaterThan(0);
      expect(source.acknowledgedUpTo).to.be.at.most(source.lastNumber);
    }
  });
});
