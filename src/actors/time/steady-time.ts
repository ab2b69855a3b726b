import type { Clock } from '../../ports/clock.ts';

/** Below this, the two clocks whose difference shows a suspend differ only by their resolution. */
const MIN_SUSPEND_MS = 1_000;

/**
 * Unix milliseconds that never jump: the wall clock at the start of the process, plus the time that has passed since. Deadlines
 * are kept in it, so that clock changes never delay or advance an alert. Values are whole numbers.
 */
export class SteadyTime {
  readonly #clock: Clock;
  readonly #beganAtMs: number;
  readonly #uptimeLeadMs: number;
  #suspendedMs = 0;

  /** `reachedMs` is the steady time that the former process reached: this one does not begin before it, whatever the wall clock says. */
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

  /** Adds the time of a suspend that has ended, and returns its length, ms. */
  catchUp(): number {
    const suspendedMs = this.#clock.uptimeMs() - this.#clock.monotonicMs() - this.#uptimeLeadMs;
    const missedMs = suspendedMs - this.#suspendedMs;
    if (missedMs < MIN_SUSPEND_MS) return 0;
    this.#suspendedMs = suspendedMs;
    return missedMs;
  }
}
