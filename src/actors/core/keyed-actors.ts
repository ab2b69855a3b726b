import {
  type ActorRefFrom,
  type AnyActor,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type Snapshot,
} from 'xstate';
import type { TableReader } from '../../store/commit/decision.ts';
import { type ActorSnapshot, stateName } from '../../machines/actor-snapshot.ts';
import { ActorFailed } from './actor-failed.ts';
import type { supervisorLogic } from './supervisor.ts';

export interface KeyedActorsOptions {
  /** The name of this kind in the ledger and in the API. */
  kind: string;
  /** The machine with its effects, shared by all actors of the kind. */
  machine: AnyStateMachine;
  supervisor: ActorRefFrom<typeof supervisorLogic>;
  /** Reads an actor's snapshot from its record; undefined when there is nothing to wake it from. */
  load(reader: TableReader, key: string): ActorSnapshot | undefined;
  /** The snapshot that follows from domain data, in place of one that cannot be used; undefined when there is no such actor. */
  rebuild(reader: TableReader, key: string): ActorSnapshot | undefined;
  /** An actor continues from a rebuilt snapshot, whose deadline is not armed. */
  rebuilt(key: string, snapshot: ActorSnapshot): void;
  /** The first stored snapshot of another machine version was met. */
  outdated(stored: string | undefined, current: string): void;
}

interface Awake {
  actor: AnyActor;
  /** The eviction round in which it was used last. */
  round: number;
}

const ACTIVE: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined };

/**
 * The awake actors of one kind, by key. Only `wake` makes an actor from a record, and only `create` and `rebuild` make a new one.
 * The supervisor receives each failure; the `ActorFailed` thrown here only ends the decision.
 */
export class KeyedActors<TEvent extends EventObject, TInput> {
  readonly kind: string;
  readonly #machine: AnyStateMachine;
  readonly #version: string;
  readonly #options: KeyedActorsOptions;
  readonly #live = new Map<string, Awake>();
  #round = 0;
  #isOutdatedReported = false;

  constructor(options: KeyedActorsOptions) {
    this.kind = options.kind;
    this.#machine = options.machine;
    this.#version = options.machine.version ?? '';
    this.#options = options;
  }

  isAwake(key: string): boolean {
    return this.#live.has(key);
  }

  /** The keys of the actors that are awake. */
  keys(): Iterable<string> {
    return this.#live.keys();
  }

  get awake(): number {
    return this.#live.size;
  }

  /** The top-level state of the actor of a key; undefined when it is asleep. */
  stateOf(key: string): string | undefined {
    const awake = this.#live.get(key);
    return awake === undefined ? undefined : stateName((awake.actor.getSnapshot() as ActorSnapshot).value);
  }

  /** The snapshot of the actor of a key, from memory or from its record, as `wake` would use it; does not wake the actor. */
  snapshotOf(reader: TableReader, key: string): ActorSnapshot | undefined {
    const awake = this.#live.get(key);
    if (awake !== undefined) return this.storable(awake.actor.getSnapshot() as ActorSnapshot);
    const stored = this.#options.load(reader, key);
    if (stored === undefined || stored.version === this.#version) return stored;
    return this.#options.rebuild(reader, key);
  }

  /**
   * The actor of a key. When it is asleep it is restored from its record, or rebuilt from domain data when another version of the
   * machine wrote that record. @throws ActorFailed when the record cannot be restored
   */
  wake(reader: TableReader, key: string): AnyActor | undefined {
    const running = this.#live.get(key);
    if (running !== undefined) {
      running.round = this.#round;
      return running.actor;
    }
    const stored = this.#options.load(reader, key);
    if (stored === undefined) return undefined;
    if (stored.version === this.#version) return this.#restore(key, stored);
    if (!this.#isOutdatedReported) this.#options.outdated(stored.version, this.#version);
    this.#isOutdatedReported = true;
    return this.rebuild(reader, key);
  }

  /** @throws ActorFailed when its first step throws */
  create(key: string, input: TInput): AnyActor {
    return this.#start(key, createActor(this.#machine, { ...this.#identity(key), input }));
  }

  /** Makes the actor of a key from domain data; undefined when there is none. @throws ActorFailed when it cannot be restored */
  rebuild(reader: TableReader, key: string): AnyActor | undefined {
    const snapshot = this.#options.rebuild(reader, key);
    if (snapshot === undefined) return undefined;
    const actor = this.#restore(key, snapshot);
    this.#options.rebuilt(key, snapshot);
    return actor;
  }

  /** The stored form of the snapshot of a running actor. */
  storable({ value, context }: Pick<ActorSnapshot, 'value' | 'context'>): ActorSnapshot {
    return { value, context, version: this.#version };
  }

  /** @throws ActorFailed when an action or guard throws */
  send(actor: AnyActor, key: string, event: TEvent): void {
    actor.send(event);
    this.#assertRunning(key, actor);
  }

  /** Removes the actor from memory; the next `wake` reads its record. */
  evict(key: string): void {
    const awake = this.#live.get(key);
    if (awake === undefined) return;
    this.#live.delete(key);
    if (awake.actor.getSnapshot().status === 'active') {
      this.#options.supervisor.send({ type: 'actor.evicted', ref: awake.actor });
    }
  }

  /** Begins a new round and evicts the actors that were not used in the last `rounds` of them. */
  evictIdle(rounds: number): void {
    this.#round += 1;
    for (const [key, { round }] of this.#live) if (this.#round - round > rounds) this.evict(key);
  }

  /** Evicts `count` actors, those first that were not used in this round. */
  evictSome(count: number): void {
    const until = this.#live.size - count;
    const all = [...this.#live];
    for (const isIdle of [true, false]) {
      for (const [key, { round }] of all) {
        if (this.#live.size <= until) return;
        if (round < this.#round === isIdle) this.evict(key);
      }
    }
  }

  evictAll(): void {
    for (const key of this.#live.keys()) this.evict(key);
  }

  #identity(key: string) {
    return { parent: this.#options.supervisor, id: key };
  }

  #restore(key: string, { value, context }: ActorSnapshot): AnyActor {
    const snapshot = { ...ACTIVE, value, context, historyValue: {}, children: {} };
    return this.#start(key, createActor(this.#machine, { ...this.#identity(key), snapshot }));
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
