import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { ConnectionContext } from '../machines/agent-connection.ts';
import { ALIVE_KEY, Committer, type LostKeys } from '../store/committer.ts';
import type { Announcement, DeadlineChange } from '../store/decision.ts';
import type { ActorSnapshot, Notification } from '../store/records.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';
import { Administration } from './administration.ts';
import { AgentPort } from './agent-port.ts';
import { BlindTime } from './blind-time.ts';
import { ttlDeadline, ttlExpired } from './check-ttls.ts';
import type { Commands, WakeableActor } from './commands.ts';
import { DeadlineWheel, type ReachedDeadline } from './deadline-wheel.ts';
import { Decider } from './decide.ts';
import { GuardLog } from './guard-log.ts';
import { keepaliveDeadline, keepaliveDue } from './keepalives.ts';
import { ActorFailed, KeyedActors } from './keyed-actors.ts';
import type { ActorKind, ActorKinds } from './kinds.ts';
import { MACHINES, type Machines, provideEffects } from './machines.ts';
import { settle } from './publish.ts';
import { startRoot } from './root.ts';
import { checkDue, scheduleInput, scheduleSnapshot } from './schedules.ts';
import type { Scope } from './scope.ts';
import { QUARANTINE, Supervision } from './supervision.ts';
import { armStoredDeadlines, BLIND_KEY, blindIntervals, takeOver } from './wake-up.ts';

/** How often an idle backend writes that it is alive; at start, blind time begins with the last such mark. */
const ALIVE_INTERVAL_MS = 5_000;
/** A deadline whose decision failed is tried again. */
const RETRY_MS = 1_000;

export interface SystemPorts {
  store: TransactionalStore;
  clock: Clock;
  log: Log;
  /** Name of the backend's own entity. */
  backendName: string;
  machines?: Machines | undefined;
  /** Handler for agents that leave and name none. */
  deregistrationHandler?: string | undefined;
}

export interface SystemListener {
  announced(announcement: Announcement): void;
  /** Senders must pause: the store cannot be written. */
  paused(): void;
  /** Senders that paused may go on. */
  resumed(): void;
}

/** The running system: root, supervisors, actors, deadlines, and the committer they all write through. */
export class ActorSystem {
  readonly agents: AgentPort;
  readonly commands: Commands;
  readonly decider: Decider;
  readonly #ports: SystemPorts;
  readonly #committer: Committer;
  readonly #kinds: ActorKinds;
  readonly #blind: BlindTime;
  readonly #wheel: DeadlineWheel;
  readonly #supervision: Supervision;
  readonly #root: ReturnType<typeof startRoot>;
  readonly #listeners: SystemListener[] = [];
  #blindSinceMs: number | undefined;
  #downstream: { readonly isFull: boolean } | undefined;
  #cancelAliveMark: (() => void) | undefined;

  constructor(ports: SystemPorts) {
    this.#ports = ports;
    const { store, clock, log, backendName, machines = MACHINES } = ports;
    const nowMs = () => clock.nowMs();
    const guards = new GuardLog();
    this.#committer = new Committer({
      store,
      nowMs,
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
    this.#blind = new BlindTime(blindIntervals(store, clock.nowMs()));
    this.#wheel = new DeadlineWheel({
      clock,
      blind: this.#blind,
      fire: (reached) => {
        this.#due(reached);
      },
    });
    this.#root = startRoot((kind, key, error) => {
      log.debug({ actor: kind, key, err: error }, 'supervisor was told of a failure');
    });
    this.#kinds = this.#makeKinds(
      provideEffects(machines, {
        guards,
        scope: () => this.decider.current,
        agents: () => this.agents,
        deregistrationHandler: ports.deregistrationHandler,
      }),
    );
    this.decider = new Decider({
      committer: this.#committer,
      kinds: this.#kinds,
      guards,
      nowMs,
      isFull: () => this.#isFull(),
      isQuarantined: (kind, key) => this.#supervision.isQuarantined(kind, key),
      failed: (failure) => {
        this.#supervision.failed(failure);
      },
      arm: (change) => {
        this.#arm(change);
      },
    });
    this.#supervision = new Supervision({
      decider: this.decider,
      reader: this.#committer,
      kinds: this.#kinds,
      wheel: this.#wheel,
      backendName,
      nowMs,
      log,
      rearm: (kind, key) => {
        this.#rearm(kind, key);
      },
    });
    this.agents = new AgentPort(this.decider, { nowMs, log });
    this.commands = new Administration({
      decider: this.decider,
      eventKeysOfCheck: (namespace, check) => this.#committer.eventKeysOfCheck(namespace, check),
      wake: (actor, key) => this.#wake(actor, key),
    });
  }

  /** Whether senders must pause: too much waits for the store, or it cannot be written. */
  get mustPause(): boolean {
    return this.#isFull() || this.#committer.isFailing;
  }

  /** Whether the store cannot be written. */
  get isFailing(): boolean {
    return this.#committer.isFailing;
  }

  /** Names who must handle what is decided: senders pause while it is full. */
  feed(downstream: { readonly isFull: boolean }): void {
    this.#downstream = downstream;
  }

  listen(listener: SystemListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when everything stored is armed and the former process is on record as ended. */
  async start(): Promise<void> {
    armStoredDeadlines(this.#ports.store, { wheel: this.#wheel, blind: this.#blind, log: this.#ports.log });
    const ports = { blind: this.#blind, kinds: this.#kinds, agents: this.agents, backendName: this.#ports.backendName };
    await this.decider.decide({ cause: { restore: true }, unbounded: true }, (scope) => {
      takeOver(scope, ports);
    }).durable;
    this.#wheel.start();
    this.#markAlive();
  }

  /** Stores what became of a notification. Resolves when that is durable. @throws StoreUnavailable */
  async settleNotification(outboxKey: string, key: string, notification: Notification): Promise<void> {
    const cause = { eventId: notification.id };
    await this.decider.decide({ cause, unbounded: true }, (scope) => {
      settle(scope, outboxKey, key, notification);
    }).durable;
  }

  /** Resolves when something small could be written. @throws StoreUnavailable */
  async probe(): Promise<void> {
    await this.decider.decide({ cause: { restore: true }, unbounded: true }, (scope) => {
      scope.put('meta', ALIVE_KEY, scope.nowMs);
    }).durable;
  }

  /** Resolves when everything decided is durable. The store stays open. */
  async stop(): Promise<void> {
    this.#cancelAliveMark?.();
    this.#wheel.stop();
    await this.#committer.drained();
    for (const kind of Object.values(this.#kinds)) kind.restAll();
    this.#root.stop();
  }

  #isFull(): boolean {
    return this.#committer.isFull || this.#downstream?.isFull === true;
  }

  #makeKinds(machines: Machines): ActorKinds {
    const { supervisors } = this.#root;
    const nowMs = () => this.#ports.clock.nowMs();
    return {
      entity: new KeyedActors({
        kind: 'entity',
        machine: machines.entity,
        supervisor: supervisors.entity,
        load: (reader, key) => reader.get('entities', key)?.actor,
        rebuild: (_, key) => ({ key }),
      }),
      'check-ttl': new KeyedActors({
        kind: 'check-ttl',
        machine: machines['check-ttl'],
        supervisor: supervisors['check-ttl'],
        load: (reader, key) => reader.get('events', key)?.ttl,
        rebuild: (reader, key) => {
          const ttlS = reader.get('events', key)?.event.check.ttl ?? 0;
          return ttlS > 0 ? { key, ttlMs: ttlS * 1_000, alertStatus: 1, atMs: nowMs() } : undefined;
        },
      }),
      connection: new KeyedActors({
        kind: 'connection',
        machine: machines.connection,
        supervisor: supervisors.connection,
        load: (reader, key) => reader.get('sessions', key)?.actor,
        rebuild: (_, key) => ({ key, atMs: nowMs() }),
      }),
      'check-schedule': new KeyedActors({
        kind: 'check-schedule',
        machine: machines['check-schedule'],
        supervisor: supervisors['check-schedule'],
        load: (reader, key) => scheduleSnapshot(reader, key, this.#wheel.deadlineOf('check-schedule', key), nowMs()),
        rebuild: (reader, key) => scheduleInput(reader, key, nowMs()),
      }),
    };
  }

  #committed(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      for (const listener of this.#listeners) listener.announced(announcement);
    }
    if (!this.mustPause) for (const listener of this.#listeners) listener.resumed();
  }

  /** What was decided on the lost batches is forgotten; the store says where each actor stands. */
  #lost(keys: LostKeys, error: Error): void {
    this.#ports.log.error({ err: error }, 'store cannot be written');
    this.#wheel.stop();
    this.#blindSinceMs = this.#ports.clock.nowMs();
    for (const listener of this.#listeners) listener.paused();
    const forget = (kind: ActorKind, lost: Iterable<string>): void => {
      for (const key of lost) {
        this.#kinds[kind].rest(key);
        this.#rearm(kind, key);
      }
    };
    forget('entity', keys.entities);
    forget('check-ttl', keys.events);
    forget('connection', keys.sessions);
    const checks = [...keys.resources].filter((key) => key.startsWith('checks/'));
    forget(
      'check-schedule',
      checks.map((key) => key.slice('checks/'.length)),
    );
  }

  #recovered(): void {
    const endMs = this.#ports.clock.nowMs();
    this.#blind.add({ beginMs: this.#blindSinceMs ?? endMs, endMs });
    this.#ports.log.warn({ blind_ms: endMs - (this.#blindSinceMs ?? endMs) }, 'store can be written again');
    this.decider.decide({ cause: { restore: true }, unbounded: true }, (scope) => {
      scope.put('meta', BLIND_KEY, this.#blind.intervals);
      this.#restartSchedules(scope);
    });
    this.agents.recovered();
    this.#wheel.rebuild();
    this.#wheel.start();
    for (const listener of this.#listeners) listener.resumed();
  }

  /** Schedules have no record to be woken from: those that were forgotten are made again from their checks. */
  #restartSchedules(scope: Scope): void {
    const schedules = this.#kinds['check-schedule'];
    for (const key of scope.decision.keys('resources', 'checks/')) {
      const check = key.slice('checks/'.length);
      if (!schedules.isAwake(check)) schedules.rebuild(scope.decision, check);
    }
  }

  #due(reached: ReachedDeadline): void {
    const { actor, key, deadlineAtMs } = reached;
    if (this.#supervision.isQuarantined(actor as ActorKind, key)) return;
    try {
      if (actor === QUARANTINE) this.#releaseById(key);
      else {
        this.decider.decide({ cause: { deadlineAtMs }, unbounded: true }, (scope) => {
          this.#decideDue(scope, reached);
        });
      }
    } catch (error) {
      if (this.#supervision.isQuarantined(actor as ActorKind, key)) return;
      // A tick that failed is not made up for: the next one is on the grid.
      if (actor === 'check-schedule') {
        this.#kinds[actor].rest(key);
        this.#rearm(actor, key);
      } else {
        this.#wheel.retry(reached, this.#ports.clock.nowMs() + RETRY_MS);
      }
      if (error instanceof ActorFailed || error instanceof StoreUnavailable) return;
      this.#ports.log.error({ actor, key, err: error }, 'deadline could not be decided');
    }
  }

  #decideDue(scope: Scope, reached: ReachedDeadline): void {
    const { actor, key, deadlineAtMs, atMs } = reached;
    if (actor === 'entity') keepaliveDue(scope, reached);
    else if (actor === 'check-ttl') ttlExpired(scope, reached);
    else if (actor === 'check-schedule') checkDue(scope, reached);
    else this.agents.due(scope, key, deadlineAtMs, atMs);
  }

  #arm({ actor, key, atMs, sinceMs }: DeadlineChange): void {
    if (atMs === undefined) this.#wheel.drop(actor, key);
    else this.#wheel.set(actor, key, atMs, sinceMs);
  }

  #rearm(kind: ActorKind, key: string): void {
    const deadline = this.#storedDeadline(kind, key);
    if (deadline === undefined) this.#wheel.drop(kind, key);
    else this.#wheel.set(kind, key, deadline.atMs, deadline.sinceMs);
  }

  #storedDeadline(kind: ActorKind, key: string): { atMs: number; sinceMs: number } | undefined {
    if (kind === 'check-schedule') {
      const input = scheduleInput(this.#committer, key, this.#ports.clock.nowMs());
      return input === undefined ? undefined : { atMs: input.firstTickAtMs, sinceMs: Infinity };
    }
    const snapshot = this.#storedSnapshot(kind, key);
    if (snapshot === undefined) return undefined;
    if (kind === 'entity') return keepaliveDeadline(snapshot);
    if (kind === 'check-ttl') return ttlDeadline(snapshot);
    return { atMs: (snapshot.context as ConnectionContext).deadlineAtMs, sinceMs: Infinity };
  }

  #storedSnapshot(kind: ActorKind, key: string): ActorSnapshot | undefined {
    if (kind === 'entity') return this.#committer.get('entities', key)?.actor;
    if (kind === 'check-ttl') return this.#committer.get('events', key)?.ttl;
    return kind === 'connection' ? this.#committer.get('sessions', key)?.actor : undefined;
  }

  #wake(actor: WakeableActor, key: string): boolean {
    if (this.#supervision.release(actor, key)) return true;
    try {
      return this.#kinds[actor].wake(this.#committer, key) !== undefined;
    } catch (error) {
      if (!(error instanceof ActorFailed)) throw error;
      this.#supervision.failed(error);
      return true;
    }
  }

  #releaseById(id: string): void {
    const slash = id.indexOf('/');
    this.#supervision.release(id.slice(0, slash) as ActorKind, id.slice(slash + 1));
  }

  #markAlive(): void {
    this.#cancelAliveMark = this.#ports.clock.after(ALIVE_INTERVAL_MS, () => {
      this.#supervision.forgetSound();
      if (!this.#committer.isFailing) {
        this.decider.decide({ cause: { restore: true }, unbounded: true }, (scope) => {
          scope.put('meta', ALIVE_KEY, scope.nowMs);
        });
      }
      this.#markAlive();
    });
  }
}
