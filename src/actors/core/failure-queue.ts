import type { LedgerCause } from '../../store/ledger/ledger.ts';
import type { ActorKind } from './actor-kind.ts';

/** One failure of one actor, as its supervisor received it. */
export interface ActorFailure {
  kind: ActorKind;
  key: string;
  /** The error that the action, guard or restore threw. */
  cause: unknown;
}

type FailureHandler = (failure: ActorFailure, cause: LedgerCause) => void;

/**
 * The failures that supervisors have received, until they are handled in order. They wait here while a decision is being made:
 * a failure cannot be recorded, and its actor cannot be woken again, before the decision it belongs to has been dropped. The
 * number of actors that one decision can reach bounds the queue.
 */
export class FailureQueue {
  readonly #waiting: ActorFailure[] = [];
  #handle: FailureHandler | undefined;
  #isHandling = false;

  /** Sets what `handleAll` calls for each failure. Failures wait until then. */
  handleWith(handle: FailureHandler): void {
    this.#handle = handle;
  }

  /** Adds a failure. Never throws, because an error would stop the supervisor that calls it. */
  add(failure: ActorFailure): void {
    this.#waiting.push(failure);
  }

  /**
   * Handles every failure, including those that the handling itself causes. `cause` is that of the decision in which they
   * happened.
   * Must not be called while a decision is being made.
   */
  handleAll(cause: LedgerCause): void {
    if (this.#waiting.length === 0 || this.#isHandling || this.#handle === undefined) return;
    this.#isHandling = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
        this.#handle(next, cause);
    } finally {
      this.#isHandling = false;
    }
  }
}
