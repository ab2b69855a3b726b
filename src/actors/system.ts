import { CONFIGURATION_KINDS } from '../resources/configuration-kinds.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import { Committer } from '../store/commit/committer.ts';
import type { LedgerHead } from '../store/ledger/ledger.ts';
import type { Attempts, Notification, OutboxEntry } from '../store/records/records.ts';
import { VisibleReader } from '../store/visible-store.ts';
import { Aggregates } from './aggregates/aggregates.ts';
import { makeActorKinds } from './actor-kinds.ts';
import { type Commands, makeCommands } from './administration/commands.ts';
import { AgentPort } from './agents/agent-port.ts';
import type { AgentSession } from './agents/agent-session.ts';
import { OpenSessions } from './agents/open-sessions.ts';
import { ArmedDeadlines } from './armed-deadlines.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import { CommitRelay } from './core/commit-relay.ts';
import type { DecisionContext } from './core/decision-context.ts';
import { CurrentDecision } from './core/current-decision.ts';
import { Decider, internal, RESTORE } from './core/decider.ts';
import { Eviction } from './core/eviction.ts';
import { FailureQueue } from './core/failure-queue.ts';
import { GuardLog } from './core/guard-log.ts';
import { MACHINES } from './core/machines.ts';
import { type Root, startRoot } from './core/root.ts';
import { DEFAULT_SETTINGS } from './core/settings.ts';
import { type SystemListener, SystemListeners } from './core/system-listeners.ts';
import { TickBook } from './core/tick-book.ts';
import { DeadlineDispatch } from './deadline-dispatch.ts';
import { MetricHistory } from './events/metric-history.ts';
import { noteAttempts, settleDurably } from './events/settle-notification.ts';
import { SILENCE } from './events/silences.ts';
import { ActorDetails } from './inspection/actor-details.ts';
import { Inspection } from './inspection/inspection.ts';
import { provideEffects } from './machine-effects.ts';
import { NO_RINGS, type Rings } from './schedules/round-robin.ts';
import { readStoredObjects, takeOver } from './start-up.ts';
import { BlindRecorder } from './supervision/blind-recorder.ts';
import { ClockStep } from './supervision/clock-step.ts';
import { CommitOutcomes } from './supervision/commit-outcomes.ts';
import { Heartbeat } from './supervision/heartbeat.ts';
import { publishAnchor } from './supervision/ledger-anchor.ts';
import { EntityRoom } from './core/entity-room.ts';
import { Quarantine } from './supervision/quarantine.ts';
import { ResourceLimits } from './supervision/resource-limits.ts';
import { Retention } from './supervision/retention.ts';
import { probeStore } from './supervision/store-probe.ts';
import { StoreRecovery } from './supervision/store-recovery.ts';
import { lastAliveMs, readBlindIntervals } from './supervision/stored-blind-time.ts';
import { Supervision } from './supervision/supervision.ts';
import { TickWatchdog } from './supervision/tick-watchdog.ts';
import { StoreUpkeep } from './supervision/store-upkeep.ts';
import type { SystemPorts } from './system-ports.ts';
import { type SystemParts, type SystemStats, systemStats } from './system-stats.ts';
import { BlindTime } from './time/blind-time.ts';
import { BlindWatch } from './time/blind-watch.ts';
import { DeadlineQueue } from './time/deadline-queue.ts';
import { Pressure } from './time/pressure.ts';
import { SteadyTime } from './time/steady-time.ts';

/** Actors whose deadlines are the wall clock times that users write into checks and silences. */
const WALL_CLOCK_ACTORS: ReadonlySet<string> = new Set<ActorKind | typeof SILENCE>(['check-schedule', SILENCE]);
/** They take half a gigabyte when all of them are awake. */
const DEFAULT_MAX_AWAKE_ACTORS = 200_000;

/** The running system: root, supervisors, actors and deadlines, and the committer that all of them write through. */
export class ActorSystem {
  readonly agents: AgentPort;
  readonly aggregates: Aggregates;
  readonly eventMetrics = new MetricHistory();
  readonly commands: Commands;
  readonly decider: Decider;
  readonly inspection: Inspection;
  readonly details: ActorDetails;
  readonly limits: ResourceLimits;
  /** The rings of the connected agents; empty until the agent port sets them. */
  rings: Rings = NO_RINGS;
  readonly #ports: SystemPorts;
  readonly #committer: Committer;
  readonly #pressure: Pressure;
  readonly #room: EntityRoom;
  readonly #steadyMs: () => number;
  readonly #deadlineQueue: DeadlineQueue;
  readonly #root: Root;
  readonly #kinds: ActorKinds;
  readonly #listeners = new SystemListeners();
  readonly #blind: BlindTime;
  readonly #commitOutcomes: CommitOutcomes;
  readonly #recovery: StoreRecovery;
  /** Background work, from the start to the stop. */
  readonly #upkeep: readonly { start(): void; stop(): void }[];
  readonly #statParts: SystemParts;

  /** Each part is made after the parts that it needs. */
  constructor(ports: SystemPorts) {
    this.#ports = ports;
    const { store, clock, log, backendName, machines = MACHINES, configurationKinds = CONFIGURATION_KINDS } = ports;
    const listeners = this.#listeners;
    this.aggregates = new Aggregates(log);
    listeners.add(this.aggregates, this.eventMetrics);
    const time = new SteadyTime(clock, lastAliveMs(store));
    const nowMs = () => clock.nowMs();
    const steadyMs = () => time.nowMs();
    this.#steadyMs = steadyMs;
    const blind = new BlindTime(readBlindIntervals(store, steadyMs()));
    const deadlineQueue = new DeadlineQueue({ clock, time, blind, wallClockActors: WALL_CLOCK_ACTORS });

    const commits = new CommitRelay();
    const after = (delayMs: number, fire: () => void) => void clock.after(delayMs, fire);
    const committer = new Committer({ store, nowMs: steadyMs, after, listener: commits });
    const settings = { ...DEFAULT_SETTINGS, ...ports.settings };
    const { storeQuotaBytes: quotaBytes } = settings;
    const { freeDiskBytes, memory, deregistrationHandler } = ports;
    const limits = new ResourceLimits({ store, clock, log, quotaBytes, freeDiskBytes, memory });
    this.limits = limits;
    const pressure = new Pressure({ store: committer, memory: limits.memory, quota: limits.quota, nowMs: steadyMs });
    const visible = new VisibleReader(committer);
    const ticks = new TickBook();
    const room = new EntityRoom(settings.entityUseLimits, (prefix) => committer.eventSizes(prefix));
    this.#room = room;
    const armed = new ArmedDeadlines({ deadlineQueue, reader: visible, ticks, nowMs });

    const current = new CurrentDecision();
    const guards = new GuardLog();
    const sessions = new OpenSessions<AgentSession>();
    const failures = new FailureQueue();
    const root = startRoot(failures);
    const effects = { current, guards, sessions, rings: () => this.rings, deregistrationHandler };
    const kinds = makeActorKinds({
      machines: provideEffects(machines, effects),
      supervisors: root.supervisors,
      deadlineQueue,
      blind,
      current,
      log,
      nowMs,
      steadyMs,
    });
    const eviction = new Eviction(kinds, ports.maxAwakeActors ?? DEFAULT_MAX_AWAKE_ACTORS, committer);
    const quarantine = new Quarantine();
    const decider = new Decider({
      committer,
      kinds,
      guards,
      current,
      failures,
      quarantine,
      pressure,
      deadlines: armed,
      eviction,
      nowMs,
      steadyMs,
      settings,
      ticks,
      room,
    });
    const agents = new AgentPort(decider, sessions, log);

    const supervised = { decider, kinds, deadlineQueue, armed, ticks, room, backendName, steadyMs, log };
    const supervision = new Supervision({ ...supervised, failures, quarantine });
    const dispatch = new DeadlineDispatch({ ...supervised, agents, supervision, pressure, reader: committer });

    const blindRecorder = new BlindRecorder({ ...supervised, blind, supervision, listeners });
    const clockStep = new ClockStep({ deadlineQueue, decider, log });
    const watch = new BlindWatch({ clock, time, blindRecorder, clockStep });
    deadlineQueue.setListener({
      beforeFiring: (dueMs) => {
        watch.check(dueMs);
      },
      reached: (deadline) => {
        dispatch.reached(deadline);
      },
    });

    const recovery = new StoreRecovery({ ...supervised, blindRecorder, quarantine, agents, listeners });
    this.#recovery = recovery;
    this.#commitOutcomes = new CommitOutcomes({ committer, pressure, blindRecorder, recovery, listeners });
    commits.setListener(this.#commitOutcomes);
    const tickWatchdog = new TickWatchdog({ ...supervised, blind, sessions });
    const upkeep = { watch, supervision, eviction, retention: new Retention(store), tickWatchdog, agents };
    const heartbeat = new Heartbeat({ ...upkeep, aggregates: this.aggregates, clock, decider, steadyMs });
    const stored = new StoreUpkeep({ store, decider, pressure, clock, log, backendName, settings });
    listeners.add(stored.deletions);
    this.#upkeep = [heartbeat, stored, limits];

    this.inspection = new Inspection({ decider, committer, visible, store, kinds, machines, clock, log });
    this.details = new ActorDetails({ committer, visible, store, kinds, deadlineQueue, clock });
    this.commands = makeCommands({
      decider,
      aggregates: this.aggregates,
      configurationKinds,
      eventKeysOfCheck: (namespace, check, limit) => committer.eventKeysOfCheck(namespace, check, limit),
      wake: (actor, key, user) => supervision.wake(actor, key, { user }),
      isConnected: (namespace, entity) => agents.isConnected(namespace, entity),
    });

    this.agents = agents;
    this.decider = decider;
    this.#committer = committer;
    this.#pressure = pressure;
    this.#deadlineQueue = deadlineQueue;
    this.#root = root;
    this.#kinds = kinds;
    this.#blind = blind;
    const decided = { committer, decider, notifications: stored.notifications, aggregates: this.aggregates };
    this.#statParts = { ...decided, kinds, eviction, deadlineQueue, supervision, blind, agents, ticks, room };
  }

  /** Whether senders must pause: too many changes wait, or the store cannot be written. */
  get mustPause(): boolean {
    return this.#commitOutcomes.mustPause;
  }

  /** Whether the store cannot be written. */
  get isFailing(): boolean {
    return this.#committer.isFailing;
  }

  /** The changes that are decided and wait to be stored. */
  get openDecisions(): number {
    return this.#committer.openDecisions.used;
  }

  /** The last durable entry of the ledger. */
  get ledgerHead(): LedgerHead {
    return this.#committer.head;
  }

  /** The number of entities whose results were refused within an hour, because the entity is full. */
  get fullEntities(): number {
    return this.#room.fullAt(this.#steadyMs());
  }

  /** Its cost grows with the number of checks, because it counts all schedules. */
  stats(): SystemStats {
    return systemStats(this.#statParts);
  }

  /** Sets the part that handles the outbox: senders pause while it is full. */
  setOutbox(outbox: { readonly isFull: boolean }): void {
    this.#pressure.setOutbox(outbox);
  }

  listen(listener: SystemListener): void {
    this.#listeners.add(listener);
  }

  /**
   * Resolves when everything stored is armed and the end of the former process is recorded; while the store cannot be written, the
   * recovery records it later.
   */
  async start(): Promise<void> {
    const { store, log, backendName, machine, ownMetadata } = this.#ports;
    const [blind, deadlineQueue, kinds, agents] = [this.#blind, this.#deadlineQueue, this.#kinds, this.agents];
    const { groups } = this.#committer.counts.stored;
    readStoredObjects(store, { deadlineQueue, blind, groups, aggregates: this.aggregates, log });
    const begin = (ctx: DecisionContext): void => {
      takeOver(ctx, { blind, kinds, agents, backendName, machine, ownMetadata, log });
    };
    try {
      await this.decider.decide(RESTORE, begin).durable;
      deadlineQueue.start();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // The recovery starts the deadline queue when the store can be written.
      this.#recovery.startMissed(begin);
    }
    for (const part of this.#upkeep) part.start();
  }

  /** Stores the outcome of a notification, and keeps its entry if it is a dead letter. Resolves when it is durable. @throws StoreUnavailable */
  settleNotification(outboxKey: string, key: string, notification: Notification, entry?: OutboxEntry): Promise<void> {
    return settleDurably(this.decider, { outboxKey, key, notification, entry });
  }

  /** Stores how often an entry of the outbox was tried. Resolves when it is durable. @throws StoreUnavailable */
  noteAttempts(outboxKey: string, attempts: Attempts): Promise<void> {
    return noteAttempts(this.decider, outboxKey, attempts);
  }

  /** Sends the ledger's head to a handler, once. Returns whether the handler exists. @throws StoreUnavailable */
  publishAnchor(handler: string): boolean {
    const publish = (ctx: DecisionContext): boolean =>
      publishAnchor(ctx, this.#ports.backendName, handler, this.ledgerHead);
    return this.decider.decide(internal('anchor.due'), publish).result;
  }

  /** Resolves when a small record was written and read back. @throws StoreUnavailable */
  async probe(): Promise<void> {
    await probeStore(this.#ports.store, this.decider);
  }

  /** Resolves when everything decided is durable. The store stays open. */
  async stop(): Promise<void> {
    for (const part of this.#upkeep) part.stop();
    this.inspection.stop();
    this.#deadlineQueue.stop();
    await this.#committer.drained();
    for (const kind of Object.values(this.#kinds)) kind.evictAll();
    this.#root.stop();
  }
}
