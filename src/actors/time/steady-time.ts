import type { Clock } from '../../ports/clock.ts';

/** Below it, the two clocks that tell a suspend differ by their grain only. */
const MIN_SUSPEND_MS = 1_000;

/**
 * Unix milliseconds that never jump: the wall clock as it was at start, and what has passed since. Deadlines are kept in it, so
 * that setting the wall clock neither hastens nor delays an alert. Whole numbers.
 */
export class SteadyTime {
  readonly #clock: Clock;
  readonly #beganAtMs: number;
  readonly #uptimeLeadMs: number;
  #suspendedMs = 0;

  /** `reachedMs` is where the former process is known to have come to: time does not begin before it, whatever the wall clock says. */
  constructor(clock: Clock, reachedMs = 0) {
    this.#clock = clock;
    this.#beganAtMs = Math.max(clock.nowMs(), reachedMs) - clock.monotonicMs();
    this.#uptimeLeadMs = clock.uptimeMs() - clock.monotonicMs();
  }

  nowMs(): number {
    return Math.floor(this.#beganAtMs + this.#clock.monotonicMs() + this.#suspendedMs);
  }

  /** How far the wall clock is ahead, ms. */
  wallLeadMs(): number {
    return this.#clock.nowMs() - this.nowMs();
  }

  /** Lets the time of a suspend that has ended pass. How long it was, ms. */
  catchUp(): number {
    const suspendedMs = this.#clock.uptimeMs() - this.#clock.monotonicMs() - this.#uptimeLeadMs;
    const missedMs = suspendedMs - this.#suspendedMs;
    if (missedMs < MIN_SUSPEND_MS) return 0;
    this.#suspendedMs = suspendedMs;
    return missedMs;
  }
}
