import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { AgentPort } from './agents/agent-port.ts';
import { ttlExpired } from './events/check-ttls.ts';
import type { DeadlineQueue, ReachedDeadline } from './time/deadline-queue.ts';
import type { Decider } from './core/decider.ts';
import { keepaliveDue } from './agents/keepalives.ts';
import { ActorFailed } from './core/actor-failed.ts';
import type { ArmedDeadlines } from './armed-deadlines.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import type { Pressure } from './time/pressure.ts';
import { checkDue } from './schedules/schedules.ts';
import type { DecisionContext } from './core/decision-context.ts';
import { SILENCE, silenceDue } from './events/silences.ts';
import { QUARANTINE, type Supervision } from './supervision/supervision.ts';

/** Actors whose deadlines mean that a sender was silent. They are not decided while senders are paused. */
const COUNTS_FROM_SENDERS: ReadonlySet<string> = new Set<ActorKind>(['entity', 'check-ttl']);
const UNREAD_RETRY_MS = 100;
/** How long to wait before a deadline whose decision failed is tried again. */
const RETRY_MS = 1_000;

export interface DeadlineDispatchPorts {
  deadlineQueue: Pick<DeadlineQueue, 'retry'>;
  armed: Pick<ArmedDeadlines, 'rearm'>;
  decider: Decider;
  kinds: ActorKinds;
  agents: Pick<AgentPort, 'due'>;
  supervision: Pick<Supervision, 'isQuarantined' | 'releaseById'>;
  pressure: Pick<Pressure, 'isFull'>;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Decides each deadline that has been reached. */
export class DeadlineDispatch {
  readonly #ports: DeadlineDispatchPorts;

  constructor(ports: DeadlineDispatchPorts) {
    this.#ports = ports;
  }

  /** Decides a deadline. Does not throw an expected error: what cannot be decided now is tried again. */
  reached(reached: ReachedDeadline): void {
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
    const { kinds, supervision, deadlineQueue, armed, steadyMs, log } = this.#ports;
    const { actor, key } = reached;
    if (supervision.isQuarantined(actor as ActorKind, key)) return;
    // A tick that failed is skipped: the next one is a whole interval later.
    if (actor === 'check-schedule') {
      kinds[actor].evict(key);
      armed.rearm(actor, key);
    } else {
      deadlineQueue.retry(reached, steadyMs() + RETRY_MS);
    }
    if (error instanceof ActorFailed || error instanceof StoreUnavailable) return;
    log.error({ actor, key, err: error }, 'could not decide a deadline');
  }
}
