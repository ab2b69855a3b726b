import { Overloaded } from '../../resources/errors.ts';
import type { Committer } from '../../store/commit/committer.ts';
import type { DeadlineChange, Source } from '../../store/commit/decision.ts';
import type { BackendCause, LedgerCause } from '../../store/ledger/ledger.ts';
import type { ActorKinds } from './actor-kind.ts';
import type { CurrentDecision } from './current-decision.ts';
import { DecisionContext } from './decision-context.ts';
import type { DecisionContextPorts } from './decision-ports.ts';
import type { DecisionObserver } from './decision-observer.ts';
import type { FailureQueue } from './failure-queue.ts';
import { OUTBOX_FULL } from './outbox-full.ts';

const FULL = {
  store: 'too many changes wait to be stored',
  memory: 'memory is nearly used up',
  quota: 'store quota exceeded',
  outbox: OUTBOX_FULL,
};

export interface Input {
  cause: LedgerCause;
  /** The connection that is notified of the outcome; a caller that awaits the promise needs none. */
  source?: Source | undefined;
  acknowledge?: number | undefined;
  /** Decided even when too many changes wait to be stored: deadlines, repairs, and agents, whose readers pause instead. */
  unbounded?: boolean;
  /** The decision can add to the outbox: refused while the outbox is full. */
  feedsHandlers?: boolean;
  /** Whether the input deletes what is stored, so that a full store accepts it. */
  frees?: boolean;
}

/** The input of the first decisions of a process. */
export const RESTORE: Input = { cause: { restore: true }, unbounded: true };

/** The input of a decision of the backend itself. It is made even when too many changes wait to be stored. */
export const internal = (backend: BackendCause): Input => ({ cause: { backend }, unbounded: true });

export interface DeciderPorts extends Omit<DecisionContextPorts, 'reader'> {
  committer: Committer;
  kinds: ActorKinds;
  current: CurrentDecision;
  failures: Pick<FailureQueue, 'handleAll'>;
  /** The queue that is full, if any: inputs that add to it are refused. */
  pressure: { readonly full: keyof typeof FULL | undefined; readonly isOutboxFull: boolean };
  deadlines: { arm(change: DeadlineChange): void };
  eviction: { keepBound(): void };
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** Steady time, ms. */
  steadyMs(): number;
}

export interface Decided<T> {
  result: T;
  /** Resolves when the decision is durable. */
  durable: Promise<void>;
}

/** Makes decisions one after the other, synchronously. Each is committed or dropped as one unit. */
export class Decider {
  /** Set only while an actor is watched. */
  observer: DecisionObserver | undefined;
  /** How many inputs were refused because too much waits. */
  refused = 0;
  readonly #ports: DeciderPorts;
  readonly #contextPorts: DecisionContextPorts;

  constructor(ports: DeciderPorts) {
    this.#ports = ports;
    this.#contextPorts = { ...ports, reader: ports.committer };
  }

  /** @throws whatever `run` throws, after dropping the decision; ActorFailed; StoreUnavailable; Overloaded */
  decide<T>(input: Input, run: (ctx: DecisionContext) => T): Decided<T> {
    const { committer, current, failures, eviction } = this.#ports;
    current.assertNone();
    committer.assertWritable();
    if (input.unbounded !== true) this.#assertRoom(input);
    const ctx = this.#open(input);
    try {
      const result = run(ctx);
      ctx.runFollowUps();
      return { result, durable: this.#close(ctx, input) };
    } catch (error) {
      this.#drop(ctx);
      throw error;
    } finally {
      current.end();
      failures.handleAll(input.cause);
      eviction.keepBound();
    }
  }

  /**
   * Makes a decision of the backend itself, unless the store cannot be written: its recovery does what is skipped here.
   */
  maintain(cause: BackendCause, run: (ctx: DecisionContext) => void): void {
    if (!this.#ports.committer.isFailing) this.decide(internal(cause), run);
  }

  #assertRoom({ feedsHandlers = false, frees = false }: Input): void {
    const { full } = this.#ports.pressure;
    if (
      full === undefined ||
      (full === 'outbox' && !feedsHandlers) ||
      ((full === 'quota' || full === 'memory') && frees)
    )
      return;
    this.refused += 1;
    throw new Overloaded(FULL[full]);
  }

  #open({ cause }: Input): DecisionContext {
    const { current, nowMs, steadyMs } = this.#ports;
    const { observer } = this;
    const ctx = new DecisionContext(this.#contextPorts, { nowMs: nowMs(), steadyMs: steadyMs(), cause, observer });
    current.begin(ctx);
    return ctx;
  }

  #close({ decision, steps }: DecisionContext, { source, acknowledge }: Input): Promise<void> {
    const { committer, deadlines } = this.#ports;
    decision.source = source;
    decision.acknowledge = acknowledge;
    const durable = committer.commit(decision);
    for (const change of decision.deadlines) deadlines.arm(change);
    if (steps !== undefined) this.observer?.decided(steps, decision.ledger.length, durable);
    return durable;
  }

  #drop({ touched }: DecisionContext): void {
    for (const { kind, key } of touched) this.#ports.kinds[kind].evict(key);
  }
}
