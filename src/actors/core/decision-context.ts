import { type Announcement, Decision } from '../../store/commit/decision.ts';
import type { LedgerCause, LedgerDraft } from '../../store/ledger/ledger.ts';
import type { LedgerActor } from '../../store/ledger/ledger-actors.ts';
import { type ActorSnapshot, stateName } from '../../machines/actor-snapshot.ts';
import type { TableName, Tables } from '../../store/records/records.ts';
import type { ActorStep } from './decision-observer.ts';
import type { DecisionContextPorts, DecisionOptions, Sent } from './decision-ports.ts';
import type { EntityRoom } from './entity-room.ts';
import { ActorFailed } from './actor-failed.ts';
import type { KeyedActors } from './keyed-actors.ts';
import type { AnyActor } from 'xstate';
import type { ActorEvents, ActorInputs, ActorKind } from './actor-kind.ts';
import type { RecordedRights } from './recorded-rights.ts';
import type { Settings } from './settings.ts';
import type { TickBook } from './tick-book.ts';
import type { Transition, TransitionDetails } from './transition.ts';
import { WatchedSteps } from './watched-steps.ts';

/** Inputs that one input may cause in the same decision; those of an entity's deletion are not counted. */
const MAX_FOLLOW_UPS = 8;

export const CONFIG_REVISION_KEY = 'config-revision';

/** One decision while it is being made. It reads earlier decisions that are not durable yet, and collects its own changes. */
export class DecisionContext {
  readonly decision: Decision;
  /** Wall clock, Unix ms, for times that users and other programs see. */
  readonly nowMs: number;
  /** Steady time, ms, which deadlines count from. */
  readonly steadyMs: number;
  /** Only `because` changes it. */
  cause: LedgerCause;
  /** Actors that received events of this decision; they are evicted when it is dropped. */
  readonly touched: { kind: ActorKind; key: string }[] = [];
  readonly #ports: DecisionContextPorts;
  readonly #watched: WatchedSteps | undefined;
  readonly #followUps: (() => void)[] = [];
  #isUnrecorded = false;
  #details: TransitionDetails | undefined;

  constructor(ports: DecisionContextPorts, { nowMs, steadyMs, cause, observer }: DecisionOptions) {
    this.#ports = ports;
    this.nowMs = nowMs;
    this.steadyMs = steadyMs;
    this.cause = cause;
    this.#watched = observer && new WatchedSteps(observer);
    this.decision = new Decision(ports.reader);
  }

  /** The steps of watched actors, in order; undefined when there are none. */
  get steps(): readonly ActorStep[] | undefined {
    return this.#watched?.steps;
  }

  /** Unix seconds. */
  get nowS(): number {
    return Math.floor(this.nowMs / 1_000);
  }

  /** Records what `run` does with the cause of an earlier decision, which it completes. */
  because(cause: LedgerCause, run: () => void): void {
    const own = this.cause;
    this.cause = cause;
    try {
      run();
    } finally {
      this.cause = own;
    }
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.decision.get(table, key);
  }

  put<T extends TableName>(table: T, key: string, value: Tables[T]): void {
    this.decision.put(table, key, value);
  }

  delete(table: TableName, key: string): void {
    this.decision.delete(table, key);
  }

  announce(announcement: Announcement): void {
    this.decision.announcements.push(announcement);
  }

  record(entry: Omit<LedgerDraft, 'atMs' | 'cause' | 'guards' | 'configRevision'> & Partial<LedgerDraft>): void {
    const draft: LedgerDraft = {
      atMs: this.nowMs,
      cause: this.cause,
      guards: [],
      configRevision: this.configRevision,
      ...entry,
    };
    if (this.#isUnrecorded) return;
    this.decision.ledger.push(draft);
    this.#watched?.addRecorded(draft, this.decision.ledger.length);
  }

  /** Runs `run` without entries in the ledger, for changes that an entry of another kind counts. */
  unrecorded<T>(run: () => T): T {
    this.#isUnrecorded = true;
    try {
      return run();
    } finally {
      this.#isUnrecorded = false;
    }
  }

  get settings(): Settings {
    return this.#ports.settings;
  }

  get ticks(): TickBook {
    return this.#ports.ticks;
  }

  get room(): EntityRoom {
    return this.#ports.room;
  }

  get configRevision(): number {
    return (this.get('meta', CONFIG_REVISION_KEY) as number | undefined) ?? 0;
  }

  /**
   * Records an administrative change and begins a new configuration revision, which later entries carry. An update without a
   * changed member is not a change. `rights` are the rights that follow from the resource, before and after.
   */
  reviseConfig(
    kind: LedgerActor,
    key: string,
    event: 'created' | 'updated' | 'deleted',
    changed: string[],
    rights: RecordedRights = {},
  ): void {
    if (event === 'updated' && changed.length === 0) return;
    this.put('meta', CONFIG_REVISION_KEY, this.configRevision + 1);
    const [from, to] = [event === 'created' ? null : 'stored', event === 'deleted' ? null : 'stored'];
    this.record({ actor: kind, key, from, event: `resource.${event}`, to, details: { changed, ...rights } });
  }

  /** Adds an input that this one causes. It is decided after the current one, in the same decision. */
  follow(decideIt: () => void): void {
    if (this.#followUps.length >= MAX_FOLLOW_UPS) throw new Error(`more than ${MAX_FOLLOW_UPS} follow-up inputs`);
    this.#followUps.push(decideIt);
  }

  runFollowUps(): void {
    for (const decideIt of this.#followUps) decideIt();
  }

  /** Whether the outbox is full: then only alerts may add to it. */
  get isOutboxFull(): boolean {
    return this.#ports.pressure.isOutboxFull;
  }

  isQuarantined(kind: ActorKind, key: string): boolean {
    return this.#ports.quarantine.has(kind, key);
  }

  /**
   * Sends an event to the actor of a key, and wakes it if it is asleep. Undefined when there is none. The ledger keeps `details`
   * with the transition. @throws ActorFailed
   */
  send<K extends ActorKind>(
    kind: K,
    key: string,
    event: ActorEvents[K],
    details?: TransitionDetails,
  ): Sent | undefined {
    const actors = this.#actors(kind);
    const actor = this.#wake(kind, actors, key);
    if (actor === undefined) return undefined;
    const outer = this.#details;
    this.#details = details;
    try {
      return this.#deliver(kind, actors, actor, key, event);
    } finally {
      this.#details = outer;
    }
  }

  /** The details of the event that an actor receives now, for its effects; undefined at any other time. */
  get details(): TransitionDetails | undefined {
    return this.#details;
  }

  /** The snapshot of the actor of a key, as this decision sees it; does not wake the actor. Undefined when there is none. */
  snapshot(kind: ActorKind, key: string): ActorSnapshot | undefined {
    return this.#actors(kind).snapshotOf(this.decision, key);
  }

  /** Wakes the actor of a key without an event. False when there is none. @throws ActorFailed */
  wake(kind: ActorKind, key: string): boolean {
    return this.#wake(kind, this.#actors(kind), key) !== undefined;
  }

  /** Whether someone observes the actor of a key. It then receives each event, so that the observation is complete. */
  isWatched(kind: ActorKind, key: string): boolean {
    return this.#watched?.watches(kind, key) === true;
  }

  /** Removes the actor of a key from memory, when this decision changes its record instead of sending it an event. */
  evict(kind: ActorKind, key: string): void {
    this.#actors(kind).evict(key);
  }

  /** Makes a new actor from domain data where there is none to wake. @throws ActorFailed */
  rebuild(kind: ActorKind, key: string): void {
    this.touched.push({ kind, key });
    this.#actors(kind).rebuild(this.decision, key);
  }

  /** Makes a new actor for a key without one. The ledger keeps `details` with its creation. @throws ActorFailed */
  create<K extends ActorKind>(
    kind: K,
    key: string,
    input: ActorInputs[K],
    eventType: string,
    details?: TransitionDetails,
  ): Sent {
    const actors = this.#actors(kind);
    this.touched.push({ kind, key });
    this.#ports.guards.begin();
    const actor = actors.create(key, input);
    const { value, context, status } = actor.getSnapshot() as ActorSnapshot & { status: string };
    const snapshot = actors.storable({ value, context });
    const state = stateName(value);
    this.#recordTransition(kind, key, { from: null, event: eventType, to: state, details });
    if (this.#watched !== undefined)
      this.#note({ kind, key, event: undefined, after: { ...snapshot, status }, isTransition: true });
    return { snapshot, state };
  }

  #actors<K extends ActorKind>(kind: K): KeyedActors<ActorEvents[K], ActorInputs[K]> {
    return this.#ports.kinds[kind];
  }

  #wake<K extends ActorKind>(kind: K, actors: KeyedActors<ActorEvents[K], ActorInputs[K]>, key: string) {
    try {
      return actors.wake(this.decision, key);
    } catch (error) {
      if (!(error instanceof ActorFailed)) throw error;
      // Its supervisor has received the failure, and no decision has used it yet: it is rebuilt from domain data.
      this.touched.push({ kind, key });
      return actors.rebuild(this.decision, key);
    }
  }

  #deliver<K extends ActorKind>(
    kind: K,
    actors: KeyedActors<ActorEvents[K], ActorInputs[K]>,
    actor: AnyActor,
    key: string,
    event: ActorEvents[K],
  ): Sent {
    this.touched.push({ kind, key });
    const before = actor.getSnapshot() as ActorSnapshot;
    this.#ports.guards.begin();
    actors.send(actor, key, event);
    const { value, context, status } = actor.getSnapshot() as ActorSnapshot & { status: string };
    const snapshot = actors.storable({ value, context });
    const state = stateName(value);
    const stateBefore = stateName(before.value);
    const isTransition = state !== stateBefore;
    if (isTransition) {
      const { details } = this;
      this.#recordTransition(kind, key, { from: stateBefore, event: event.type, to: state, details });
    }
    if (this.#watched !== undefined) this.#note({ kind, key, event, after: { ...snapshot, status }, isTransition });
    if (status !== 'active') actors.evict(key);
    return { snapshot: status === 'active' ? snapshot : undefined, state };
  }

  #note(step: Omit<ActorStep, 'atMs' | 'ledgerEntries'>): void {
    const isTransition = step.isTransition && !this.#isUnrecorded;
    const ledgerEntries = this.decision.ledger.length;
    this.#watched?.add({ ...step, atMs: this.nowMs, ledgerEntries, isTransition });
  }

  #recordTransition(actor: LedgerActor, key: string, transition: Transition): void {
    const { details, ...step } = transition;
    const guards = this.#ports.guards.taken();
    this.record({ actor, key, ...step, guards, ...(details === undefined ? {} : { details }) });
  }
}
