import {
  type ActorRefFrom,
  type AnyActor,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type Snapshot,
} from 'xstate';
import type { TableReader } from '../../store/decision.ts';
import type { ActorSnapshot } from '../../store/records.ts';
import type { supervisorLogic } from './supervisor.ts';

/** An action, guard or restore of an actor threw. Whatever was decided with it is dropped. */
export class ActorFailed extends Error {
  readonly actor: string;
  readonly key: string;

  constructor(actor: string, key: string, cause: unknown) {
    super(`${actor} ${key} failed`, { cause });
    this.actor = actor;
    this.key = key;
  }
}

export interface KeyedActorsOptions<TInput> {
  /** The word of the ledger for this kind. */
  kind: string;
  /** Provided with its effects, once for all actors of the kind. */
  machine: AnyStateMachine;
  supervisor: ActorRefFrom<typeof supervisorLogic>;
  /** Where an actor stands by its record; undefined where there is nothing to wake it from. */
  load(reader: TableReader, key: string): ActorSnapshot | undefined;
  /** What an actor begins anew with when its record cannot be restored; undefined where that is impossible. */
  rebuild(reader: TableReader, key: string): TInput | undefined;
}

interface Awake {
  actor: AnyActor;
  /** The round of `sleepers` in which it was needed last. */
  round: number;
}

const ACTIVE: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined };

/** The live actors of one kind, by key. `wake` is the only way from a record to an actor, `create` the only way from nothing. */
export class KeyedActors<TEvent extends EventObject, TInput> {
  readonly kind: string;
  readonly #machine: AnyStateMachine;
  readonly #options: KeyedActorsOptions<TInput>;
  readonly #live = new Map<string, Awake>();
  #round = 0;

  constructor(options: KeyedActorsOptions<TInput>) {
    this.kind = options.kind;
    this.#machine = options.machine;
    this.#options = options;
  }

  isAwake(key: string): boolean {
    return this.#live.has(key);
  }

  /** Of those that are awake. */
  keys(): Iterable<string> {
    return this.#live.keys();
  }

  get awake(): number {
    return this.#live.size;
  }

  /** The state of an actor that is awake. */
  stateOf(key: string): string | undefined {
    const awake = this.#live.get(key);
    return awake === undefined ? undefined : (awake.actor.getSnapshot() as { value: string }).value;
  }

  /** Where the actor of a key stands, without waking it: as it runs, or by its record. */
  snapshotOf(reader: TableReader, key: string): ActorSnapshot | undefined {
    const awake = this.#live.get(key);
    if (awake === undefined) return this.#options.load(reader, key);
    const { value, context } = awake.actor.getSnapshot() as ActorSnapshot;
    return { value, context };
  }

  /** The actor of a key: as it runs, or from its record. @throws ActorFailed when the record cannot be restored */
  wake(reader: TableReader, key: string): AnyActor | undefined {
    const running = this.#live.get(key);
    if (running !== undefined) {
      running.round = this.#round;
      return running.actor;
    }
    const stored = this.#options.load(reader, key);
    if (stored === undefined) return undefined;
    const { value, context } = stored;
    const snapshot = { ...ACTIVE, value, context, historyValue: {}, children: {} };
    return this.#start(key, createActor(this.#machine, { ...this.#identity(key), snapshot }));
  }

  /** @throws ActorFailed when its first step throws */
  create(key: string, input: TInput): AnyActor {
    return this.#start(key, createActor(this.#machine, { ...this.#identity(key), input }));
  }

  /** Begins anew from domain data. */
  rebuild(reader: TableReader, key: string): AnyActor | undefined {
    const input = this.#options.rebuild(reader, key);
    return input === undefined ? undefined : this.create(key, input);
  }

  /** @throws ActorFailed when an action or guard throws */
  send(actor: AnyActor, key: string, event: TEvent): void {
    actor.send(event);
    this.#assertRunning(key, actor);
  }

  /** Forgets the actor; the next `wake` reads the record. */
  rest(key: string): void {
    const awake = this.#live.get(key);
    if (awake === undefined) return;
    this.#live.delete(key);
    if (awake.actor.getSnapshot().status === 'active') {
      this.#options.supervisor.send({ type: 'actor.rested', ref: awake.actor });
    }
  }

  /** Begins a new round, and puts to rest who was not needed in the last `rounds` of them. */
  evictIdle(rounds: number): void {
    this.#round += 1;
    for (const [key, { round }] of this.#live) if (this.#round - round > rounds) this.rest(key);
  }

  /** Puts `count` to rest, who was not needed in this round before who was. */
  evictSome(count: number): void {
    const until = this.#live.size - count;
    const all = [...this.#live];
    for (const isIdle of [true, false]) {
      for (const [key, { round }] of all) {
        if (this.#live.size <= until) return;
        if (round < this.#round === isIdle) this.rest(key);
      }
    }
  }

  evictAll(): void {
    for (const key of this.#live.keys()) this.rest(key);
  }

  #identity(key: string) {
    return { parent: this.#options.supervisor, id: key };
  }

  #start(key: string, actor: AnyActor): AnyActor {
    actor.start();
    this.#assertRunning(key, actor);
    this.#live.set(key, { actor, round: this.#round });
    return actor;
  }

  #assertRunning(key: string, actor: AnyActor): void {
    const snapshot = actor.getSnapshot() as { status: string; error?: unknown };
    if (snapshot.status !== 'error') return;
    this.#live.delete(key);
    throw new ActorFailed(this.kind, key, snapshot.error);
  }
}
