import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { CONFIGURATION_KINDS, type ConfigurationKinds } from '../resources/configuration-kinds.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { System } from '../resources/entity.ts';
import { ALIVE_KEY, Committer, type LostKeys } from '../store/committer.ts';
import type { Announcement } from '../store/decision.ts';
import type { LedgerHead } from '../store/ledger.ts';
import type { Notification } from '../store/records.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';
import { makeActorKinds } from './actor-kinds.ts';
import { type Commands, makeCommands } from './administration/commands.ts';
import { AgentPort, type AgentSession } from './agents/agent-port.ts';
import { type BlindInterval, BlindTime } from './time/blind-time.ts';
import { BlindWatch } from './time/blind-watch.ts';
import { DeadlineQueue } from './time/deadline-queue.ts';
import { DeadlineDispatch } from './deadline-dispatch.ts';
import { ArmedDeadlines } from './armed-deadlines.ts';
import { CurrentDecision } from './core/current-decision.ts';
import { FailureQueue } from './core/failure-queue.ts';
import { OpenSessions } from './agents/open-sessions.ts';
import { Quarantine } from './supervision/quarantine.ts';
import { Decider, INTERNAL } from './core/decider.ts';
import { type SystemStats, systemStats } from './system-stats.ts';
import { GuardLog } from './core/guard-log.ts';
import { Inspection } from './inspection/inspection.ts';
import { publishAnchor } from './supervision/ledger-anchor.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import { MACHINES, type Machines } from './core/machines.ts';
import { provideEffects } from './machine-effects.ts';
import { Pressure } from './time/pressure.ts';
import { settle } from './events/publish.ts';
import { forget, Retention } from './supervision/retention.ts';
import { startRoot } from './core/root.ts';
import { NOBODY, type Rings } from './schedules/round-robin.ts';
import { rephaseSchedules, restartSchedules } from './schedules/schedules.ts';
import type { DecisionContext } from './core/decision-context.ts';
import { DEFAULT_SETTINGS, type Settings } from './core/settings.ts';
import { SILENCE } from './events/silences.ts';
import { Eviction } from './core/eviction.ts';
import { SteadyTime } from './time/steady-time.ts';
import { Supervision } from './supervision/supervision.ts';
import { armStoredDeadlines, BLIND_KEY, blindIntervals, lastAliveMs, recordBlindTime, takeOver } from './start-up.ts';

/** How often an idle backend writes that it is alive; at start, blind time begins with the last such mark. */
const ALIVE_INTERVAL_MS = 5_000;
/** Actors whose deadlines are what people write into schedules and silences. */
const WALL_CLOCK_ACTORS: ReadonlySet<string> = new Set<ActorKind | typeof SILENCE>(['check-schedule', SILENCE]);
/** Half a gigabyte, if all of them are awake. */
const DEFAULT_MAX_AWAKE_ACTORS = 200_000;

export interface SystemPorts {
  store: TransactionalStore;
  clock: Clock;
  log: Log;
  /** Name of the backend's own entity. */
  backendName: string;
  /** What that runs on. */
  machine?: System | undefined;
  machines?: Machines | undefined;
  configurationKinds?: ConfigurationKinds | undefined;
  /** Handler for agents that leave and name none. */
  deregistrationHandler?: string | undefined;
  /** What is not given is as in `DEFAULT_SETTINGS`. */
  settings?: Partial<Settings>;
  /** Actors that may be awake at once; the others sleep in the store. */
  maxAwakeActors?: number | undefined;
}

export interface SystemListener {
  announced(announcement: Announcement): void;
  /** Senders must pause: the store cannot be written. */
  paused?(): void;
  /** Senders that paused may go on. */
  resumed?(): void;
  /** Nothing was read for so long, by the monotonic clock: nobody was silent. */
  missed?(ms: number): void;
}

/** The running system: root, supervisors, actors, deadlines, and the committer they all write through. */
export class ActorSystem {
  readonly agents: AgentPort;
  readonly commands: Commands;
  readonly decider: Decider;
  readonly inspection: Inspection;
  /** Of the connected agents; nobody takes turns until whoever knows them says so. */
  rings: Rings = NOBODY;
  readonly #ports: SystemPorts;
  readonly #committer: Committer;
  readonly #kinds: ActorKinds;
  readonly #sleep: Eviction;
  readonly #time: SteadyTime;
  readonly #blind: BlindTime;
  readonly #watch: BlindWatch;
  readonly #pressure: Pressure;
  readonly #deadlineQueue: DeadlineQueue;
  readonly #supervision: Supervision;
  readonly #armed: ArmedDeadlines;
  readonly #dispatch: DeadlineDispatch;
  readonly #retention: Retention;
  readonly #root: ReturnType<typeof startRoot>;
  readonly #listeners: SystemListener[] = [];
  #blindSinceMs: number | undefined;
  #cancelAliveMark: (() => void) | undefined;

  constructor(ports: SystemPorts) {
    this.#ports = ports;
    const { store, clock, log, backendName, machines = MACHINES, configurationKinds = CONFIGURATION_KINDS } = ports;
    const guards = new GuardLog();
    this.#time = new SteadyTime(clock, lastAliveMs(store));
    const nowMs = () => clock.nowMs();
    const steadyMs = () => this.#time.nowMs();
    this.#committer = new Committer({
      store,
      nowMs: steadyMs,
      after: (delayMs, fire) => void clock.after(delayMs, fire),
      listener: {
        committed: (announcements) => {
          this.#committed(announcements);
        },
        lost: (keys, error) => {
          this.#lost(keys, error);
        },
        recovered: () => {
          this.#recovered();
        },
      },
    });
    this.#blind = new BlindTime(blindIntervals(store, steadyMs()));
    this.#pressure = new Pressure({ store: this.#committer, nowMs: steadyMs });
    this.#watch = new BlindWatch({
      clock,
      time: this.#time,
      blind: (interval, unreadMs) => {
        this.#wasBlind('process.resumed', interval, unreadMs);
      },
      stepped: (byMs) => {
        this.#clockStepped(byMs);
      },
    });
    this.#deadlineQueue = new DeadlineQueue({
      clock,
      time: this.#time,
      blind: this.#blind,
      goesByWallClock: (actor) => WALL_CLOCK_ACTORS.has(actor),
      look: (dueMs) => {
        this.#watch.look(dueMs);
      },
      fire: (reached) => {
        this.#dispatch.reached(reached);
      },
    });
    const current = new CurrentDecision();
    const failures = new FailureQueue();
    const sessions = new OpenSessions<AgentSession>();
    this.#root = startRoot(failures);
    this.#kinds = makeActorKinds({
      machines: provideEffects(machines, {
        current,
        guards,
        sessions,
        rings: () => this.rings,
        deregistrationHandler: ports.deregistrationHandler,
      }),
      supervisors: this.#root.supervisors,
      deadlineQueue: this.#deadlineQueue,
      nowMs,
      steadyMs,
    });
    this.#sleep = new Eviction(this.#kinds, ports.maxAwakeActors ?? DEFAULT_MAX_AWAKE_ACTORS);
    this.#armed = new ArmedDeadlines({ deadlineQueue: this.#deadlineQueue, reader: this.#committer, nowMs });
    const quarantine = new Quarantine();
    this.decider = new Decider({
      committer: this.#committer,
      kinds: this.#kinds,
      guards,
      nowMs,
      steadyMs,
      current,
      failures,
      quarantine,
      pressure: this.#pressure,
      deadlines: this.#armed,
      eviction: this.#sleep,
      settings: { ...DEFAULT_SETTINGS, ...ports.settings },
    });
    this.#supervision = new Supervision({
      failures,
      quarantine,
      decider: this.decider,
      kinds: this.#kinds,
      deadlineQueue: this.#deadlineQueue,
      armed: this.#armed,
      backendName,
      steadyMs,
      log,
    });
    this.inspection = new Inspection({
      decider: this.decider,
      committer: this.#committer,
      store,
      kinds: this.#kinds,
      machines,
      clock,
      log,
    });
    this.agents = new AgentPort(this.decider, sessions, log);
    this.#retention = new Retention(store);
    this.#dispatch = new DeadlineDispatch({
      deadlineQueue: this.#deadlineQueue,
      armed: this.#armed,
      decider: this.decider,
      kinds: this.#kinds,
      agents: this.agents,
      supervision: this.#supervision,
      pressure: this.#pressure,
      steadyMs,
      log,
    });
    this.commands = makeCommands({
      decider: this.decider,
      configurationKinds,
      eventKeysOfCheck: (namespace, check) => this.#committer.eventKeysOfCheck(namespace, check),
      wake: (actor, key) => this.#supervision.wake(actor, key),
      isConnected: (namespace, entity) => this.agents.isConnected(namespace, entity),
    });
  }

  /** Whether senders must pause: too much waits for the store, or it cannot be written. */
  get mustPause(): boolean {
    return this.#pressure.isFull || this.#committer.isFailing;
  }

  /** Whether the store cannot be written. */
  get isFailing(): boolean {
    return this.#committer.isFailing;
  }

  /** Costs the schedules of all checks. */
  figures(): SystemStats {
    return systemStats({
      committer: this.#committer,
      decider: this.decider,
      kinds: this.#kinds,
      eviction: this.#sleep,
      deadlineQueue: this.#deadlineQueue,
      supervision: this.#supervision,
      blind: this.#blind,
      agents: this.agents,
    });
  }

  /** Names who must handle what is decided: senders pause while it is full. */
  feed(downstream: { readonly isFull: boolean }): void {
    this.#pressure.setOutbox(downstream);
  }

  listen(listener: SystemListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when everything stored is armed and the former process is on record as ended. */
  async start(): Promise<void> {
    armStoredDeadlines(this.#ports.store, {
      deadlineQueue: this.#deadlineQueue,
      blind: this.#blind,
      log: this.#ports.log,
    });
    const { backendName, machine } = this.#ports;
    const ports = { blind: this.#blind, kinds: this.#kinds, agents: this.agents, backendName, machine };
    await this.decider.decide(INTERNAL, (ctx) => {
      takeOver(ctx, ports);
    }).durable;
    this.#deadlineQueue.start();
    this.#markAlive();
  }

  /** Stores what became of a notification. Resolves when that is durable. @throws StoreUnavailable */
  async settleNotification(outboxKey: string, key: string, notification: Notification): Promise<void> {
    const cause = { eventId: notification.id };
    await this.decider.decide({ cause, unbounded: true }, (ctx) => {
      settle(ctx, outboxKey, key, notification);
    }).durable;
  }

  /** The last durable entry of the ledger. */
  get ledgerHead(): LedgerHead {
    return this.#committer.head;
  }

  /** Has the ledger's head handled, once. @throws StoreUnavailable */
  handAnchor(handler: string): void {
    this.decider.decide(INTERNAL, (ctx) => {
      publishAnchor(ctx, this.#ports.backendName, handler, this.ledgerHead);
    });
  }

  /** Resolves when something small could be written and read. @throws StoreUnavailable */
  async probe(): Promise<void> {
    await this.decider.decide(INTERNAL, (ctx) => {
      ctx.put('meta', ALIVE_KEY, ctx.steadyMs);
    }).durable;
    if (this.#ports.store.get('meta', ALIVE_KEY) === undefined) throw new StoreUnavailable('nothing can be read');
  }

  /** Resolves when everything decided is durable. The store stays open. */
  async stop(): Promise<void> {
    this.#cancelAliveMark?.();
    this.inspection.stop();
    this.#deadlineQueue.stop();
    await this.#committer.drained();
    for (const kind of Object.values(this.#kinds)) kind.evictAll();
    this.#root.stop();
  }

  #committed(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      for (const listener of this.#listeners) listener.announced(announcement);
    }
    const unread = this.#pressure.relieved();
    if (unread !== undefined) this.#wasBlind('readers.resumed', unread, 0);
    if (!this.mustPause) for (const listener of this.#listeners) listener.resumed?.();
  }

  /** What was decided on the lost batches is forgotten; the store says where each actor stands. */
  #lost(keys: LostKeys, error: Error): void {
    this.#ports.log.error({ err: error }, 'store cannot be written');
    this.#deadlineQueue.stop();
    this.#blindSinceMs = this.#time.nowMs();
    for (const listener of this.#listeners) listener.paused?.();
    const forget = (kind: ActorKind, lost: Iterable<string>): void => {
      for (const key of lost) {
        this.#kinds[kind].evict(key);
        this.#armed.rearm(kind, key);
      }
    };
    forget('entity', keys.entities);
    forget('check-ttl', keys.events);
    forget('connection', keys.sessions);
    forget('check-schedule', keysUnder('checks/', keys.resources));
    for (const key of keysUnder('silenced/', keys.resources)) this.#armed.rearm(SILENCE, key);
  }

  #recovered(): void {
    const endMs = this.#time.nowMs();
    const interval = { beginMs: this.#blindSinceMs ?? endMs, endMs };
    this.#addBlindTime(interval);
    this.#ports.log.warn({ blind_ms: endMs - interval.beginMs }, 'store can be written again');
    this.decider.decide(INTERNAL, (ctx) => {
      ctx.put('meta', BLIND_KEY, this.#blind.intervals);
      recordBlindTime(ctx, this.#ports.backendName, 'store.recovered', interval);
      restartSchedules(ctx, this.#kinds['check-schedule']);
    });
    this.agents.recovered();
    this.#deadlineQueue.rebuild();
    this.#deadlineQueue.start();
    for (const listener of this.#listeners) listener.resumed?.();
  }

  #markAlive(): void {
    const dueMs = this.#time.nowMs() + ALIVE_INTERVAL_MS;
    this.#cancelAliveMark = this.#ports.clock.after(ALIVE_INTERVAL_MS, () => {
      this.#watch.look(dueMs);
      this.#supervision.forgetHealthy();
      this.#sleep.beginRound();
      this.#decideUnlessFailing((ctx) => {
        ctx.put('meta', ALIVE_KEY, ctx.steadyMs);
        forget(ctx, this.#retention.step());
      });
      this.#markAlive();
    });
  }

  #addBlindTime(interval: BlindInterval): void {
    this.#blind.add(interval);
    this.#blind.keepFirstAfter(this.#deadlineQueue.inputsAtMs());
  }

  /** Nobody was silent only because we did not listen. `event` is what ended that. */
  #wasBlind(event: string, interval: BlindInterval, unreadMs: number): void {
    this.#ports.log.warn({ event, blind_ms: interval.endMs - interval.beginMs }, 'backend was blind');
    this.#addBlindTime(interval);
    this.#deadlineQueue.rebuild();
    for (const listener of this.#listeners) listener.missed?.(unreadMs);
    this.#decideUnlessFailing((ctx) => {
      ctx.put('meta', BLIND_KEY, this.#blind.intervals);
      recordBlindTime(ctx, this.#ports.backendName, event, interval);
    });
  }

  /** Deadlines in steady time stay as they are; what people wrote by the wall clock moves with it. */
  #clockStepped(byMs: number): void {
    this.#ports.log.warn({ step_ms: byMs }, 'wall clock was set');
    this.#deadlineQueue.rebuild();
    this.#decideUnlessFailing((ctx) => {
      rephaseSchedules(ctx);
    });
  }

  /** What is decided here is made up for when the store recovers. */
  #decideUnlessFailing(run: (ctx: DecisionContext) => void): void {
    if (!this.#committer.isFailing) this.decider.decide(INTERNAL, run);
  }
}

/** What is left of the keys that begin with `prefix`. */
const keysUnder = (prefix: string, keys: Iterable<string>): string[] =>
  [...keys].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
