import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { DeadlineChange, TableReader } from '../store/decision.ts';
import type { AgentPort } from './agents/agent-port.ts';
import { ttlExpired } from './events/check-ttls.ts';
import type { DeadlineQueue, ReachedDeadline } from './time/deadline-queue.ts';
import type { Decider } from './core/decider.ts';
import { keepaliveDue } from './agents/keepalives.ts';
import { ActorFailed } from './core/keyed-actors.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import type { Pressure } from './time/pressure.ts';
import { checkDue } from './schedules/schedules.ts';
import type { DecisionContext } from './core/decision-context.ts';
import { SILENCE, silenceDue } from './events/silences.ts';
import { storedDeadline } from './stored-deadlines.ts';
import { QUARANTINE, type Supervision } from './supervision/supervision.ts';

/** Actors whose deadlines say that somebody was silent: not while senders wait for us. */
const COUNTS_FROM_SENDERS: ReadonlySet<string> = new Set<ActorKind>(['entity', 'check-ttl']);
const UNREAD_RETRY_MS = 100;
/** A deadline whose decision failed is tried again. */
const RETRY_MS = 1_000;

export interface DeadlinesPorts {
  deadlineQueue: DeadlineQueue;
  decider: Decider;
  reader: TableReader;
  kinds: ActorKinds;
  agents: AgentPort;
  supervision: Supervision;
  pressure: Pressure;
  /** By the wall clock, Unix ms. */
  nowMs(): number;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Between the wheel and the decisions: what is armed follows from what was decided or is stored, and what has come is decided. */
export class Deadlines {
  readonly #ports: DeadlinesPorts;

  constructor(ports: DeadlinesPorts) {
    this.#ports = ports;
  }

  /** As a decision says. */
  arm({ actor, key, atMs, sinceMs, repeat }: DeadlineChange): void {
    const { deadlineQueue } = this.#ports;
    if (atMs === undefined) deadlineQueue.drop(actor, key);
    else deadlineQueue.set(actor, key, atMs, sinceMs, repeat);
  }

  /** As what is stored says. */
  rearm(actor: ActorKind | typeof SILENCE, key: string): void {
    const { deadlineQueue, reader, nowMs } = this.#ports;
    const deadline = storedDeadline(reader, actor, key, nowMs());
    if (deadline === undefined) deadlineQueue.drop(actor, key);
    else deadlineQueue.set(actor, key, deadline.atMs, deadline.sinceMs, deadline.repeat);
  }

  /** Never throws: what could not be decided is tried again. */
  due(reached: ReachedDeadline): void {
    const { decider, supervision, pressure, deadlineQueue, steadyMs } = this.#ports;
    const { actor, key, deadlineAtMs } = reached;
    if (supervision.isQuarantined(actor as ActorKind, key)) return;
    if (COUNTS_FROM_SENDERS.has(actor) && pressure.isFull) {
      deadlineQueue.retry(reached, steadyMs() + UNREAD_RETRY_MS);
      return;
    }
    try {
      if (actor === QUARANTINE) supervision.releaseById(key);
      else {
        decider.decide({ cause: { deadlineAtMs }, unbounded: true }, (ctx) => {
          this.#decide(ctx, reached);
        });
      }
    } catch (error) {
      this.#failed(reached, error);
    }
  }

  #decide(ctx: DecisionContext, reached: ReachedDeadline): void {
    const { actor, key, deadlineAtMs, atMs } = reached;
    if (actor === 'entity') keepaliveDue(ctx, reached);
    else if (actor === 'check-ttl') ttlExpired(ctx, reached);
    else if (actor === 'check-schedule') checkDue(ctx, reached);
    else if (actor === SILENCE) silenceDue(ctx, reached);
    else this.#ports.agents.due(ctx, key, deadlineAtMs, atMs);
  }

  #failed(reached: ReachedDeadline, error: unknown): void {
    const { kinds, supervision, deadlineQueue, steadyMs, log } = this.#ports;
    const { actor, key } = reached;
    if (supervision.isQuarantined(actor as ActorKind, key)) return;
    // A tick that failed is not made up for: the next one is on the grid.
    if (actor === 'check-schedule') {
      kinds[actor].rest(key);
      this.rearm(actor, key);
    } else {
      deadlineQueue.retry(reached, steadyMs() + RETRY_MS);
    }
    if (error instanceof ActorFailed || error instanceof StoreUnavailable) return;
    log.error({ actor, key, err: error }, 'deadline could not be decided');
  }
}
