import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import { visible } from '../store/records/pending-deletions.ts';
import type { TableReader } from '../store/records/table-reader.ts';
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
import type { TickBook } from './core/tick-book.ts';
import { SILENCE, silenceDue } from './events/silences.ts';
import { QUARANTINE, type Supervision } from './supervision/supervision.ts';

/** The actors of deadlines. Silences have no machine; a deadline of `quarantine` releases a quarantined actor. */
type DeadlineActor = ActorKind | typeof SILENCE | typeof QUARANTINE;

/** Whether a deadline of the actor means that a sender was silent. Such a deadline is not decided while senders are paused. */
const COUNTS_FROM_SENDERS: Readonly<Record<DeadlineActor, boolean>> = {
  entity: true,
  'check-ttl': true,
  connection: false,
  'check-schedule': false,
  [SILENCE]: false,
  [QUARANTINE]: false,
};
const UNREAD_RETRY_MS = 100;
/** How long to wait before a deadline whose decision failed is tried again. */
const RETRY_MS = 1_000;

export interface DeadlineDispatchPorts {
  deadlineQueue: Pick<DeadlineQueue, 'retry'>;
  armed: Pick<ArmedDeadlines, 'rearm'>;
  ticks: Pick<TickBook, 'failed'>;
  decider: Decider;
  kinds: ActorKinds;
  agents: Pick<AgentPort, 'due'>;
  supervision: Pick<Supervision, 'isQuarantined' | 'releaseById'>;
  pressure: Pick<Pressure, 'isFull'>;
  /** Also reads the events that pending deletions hide. */
  reader: TableReader & { readonly hasDeletions: boolean };
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Why a tick was lost, for the record of ticks. */
const failureOf = (error: unknown): string =>
  error instanceof StoreUnavailable ? 'the store could not be written' : 'its schedule failed';

/** Decides each deadline that has been reached. */
export class DeadlineDispatch {
  readonly #ports: DeadlineDispatchPorts;
  /** The effect of a reached deadline of each actor, within a decision. */
  readonly #effects: Readonly<
    Record<Exclude<DeadlineActor, typeof QUARANTINE>, (ctx: DecisionContext, reached: ReachedDeadline) => void>
  >;

  constructor(ports: DeadlineDispatchPorts) {
    this.#ports = ports;
    this.#effects = {
      entity: keepaliveDue,
      'check-ttl': ttlExpired,
      connection(ctx, { key, deadlineAtMs, atMs }) {
        ports.agents.due(ctx, key, deadlineAtMs, atMs);
      },
      'check-schedule': checkDue,
      [SILENCE]: silenceDue,
    };
  }

  /** Decides a deadline. If that is not possible now, it tries again later and does not throw. */
  reached(reached: ReachedDeadline): void {
    const { decider, supervision, pressure, deadlineQueue, steadyMs } = this.#ports;
    const { key, deadlineAtMs } = reached;
    const actor = reached.actor as DeadlineActor;
    if (supervision.isQuarantined(actor as ActorKind, key)) return;
    if (COUNTS_FROM_SENDERS[actor] && pressure.isFull) {
      deadlineQueue.retry(reached, steadyMs() + UNREAD_RETRY_MS);
      return;
    }
    // The deletion may be lost before it is durable: then the check TTL is armed as before.
    if (actor === 'check-ttl' && this.#isHidden(key)) {
      deadlineQueue.retry(reached, steadyMs() + RETRY_MS);
      return;
    }
    try {
      if (actor === QUARANTINE) supervision.releaseById(key, { deadlineAtMs });
      else {
        decider.decide({ cause: { deadlineAtMs }, unbounded: true }, (ctx) => {
          this.#effects[actor](ctx, reached);
        });
      }
    } catch (error) {
      this.#failed(reached, error);
    }
  }

  /** Whether a pending deletion hides an armed check TTL. */
  #isHidden(key: string): boolean {
    const { reader } = this.#ports;
    const record = reader.hasDeletions ? reader.get('events', key) : undefined;
    return record?.ttl !== undefined && visible(reader, 'events', key, record)?.ttl === undefined;
  }

  #failed(reached: ReachedDeadline, error: unknown): void {
    const { kinds, supervision, deadlineQueue, armed, ticks, steadyMs, log } = this.#ports;
    const { actor, key } = reached;
    if (supervision.isQuarantined(actor as ActorKind, key)) return;
    // A tick that failed is skipped: the next one is a whole interval later.
    if (actor === 'check-schedule') {
      ticks.failed(key, reached.deadlineAtMs, failureOf(error));
      kinds[actor].evict(key);
      armed.rearm(actor, key);
    } else {
      deadlineQueue.retry(reached, steadyMs() + RETRY_MS);
    }
    if (error instanceof ActorFailed || error instanceof StoreUnavailable) return;
    log.error({ actor, key, err: error }, 'could not decide a deadline');
  }
}
