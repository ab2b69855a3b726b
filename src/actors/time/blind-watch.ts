import type { Clock } from '../../ports/clock.ts';
import type { BlindInterval } from './blind-time.ts';
import type { SteadyTime } from './steady-time.ts';

/** A timer that fires later than this shows that the process did not run: it was stopped, suspended or stuck. */
const MAX_LATE_MS = 2_000;
/** A wall clock that moved by more, against steady time, was set. */
const MAX_DRIFT_MS = 1_000;

export interface BlindWatchPorts {
  clock: Pick<Clock, 'monotonicMs'>;
  time: SteadyTime;
  blindRecorder: {
    /** The process did not run in `interval`; for `unreadMs` of it, by the monotonic clock, sockets could have been read. */
    ended(event: 'process.resumed', interval: BlindInterval, unreadMs: number): void;
  };
  clockStep: {
    /** The wall clock was set, by this much. */
    stepped(byMs: number): void;
  };
}

/** Detects, at run time, that the process did not run for a while and that the wall clock was set. */
export class BlindWatch {
  readonly #ports: BlindWatchPorts;
  #checkedAtMs: number;
  #checkedAtMonotonicMs: number;
  #wallLeadMs: number;

  constructor(ports: BlindWatchPorts) {
    this.#ports = ports;
    this.#checkedAtMs = ports.time.nowMs();
    this.#checkedAtMonotonicMs = ports.clock.monotonicMs();
    this.#wallLeadMs = ports.time.wallLeadMs();
  }

  /** Compares the clocks. Timers call it before they act; `dueMs` is when they should have fired, in steady time. */
  check(dueMs: number): void {
    const { clock, time, blindRecorder, clockStep } = this.#ports;
    time.catchUp();
    const nowMs = time.nowMs();
    const monotonicMs = clock.monotonicMs();
    const interval = { beginMs: this.#checkedAtMs, endMs: nowMs };
    const unreadMs = monotonicMs - this.#checkedAtMonotonicMs;
    this.#checkedAtMs = nowMs;
    this.#checkedAtMonotonicMs = monotonicMs;
    // A timer that was late before the last check was noticed then.
    if (nowMs - Math.max(dueMs, interval.beginMs) > MAX_LATE_MS) {
      blindRecorder.ended('process.resumed', interval, unreadMs);
    }
    const stepMs = time.wallLeadMs() - this.#wallLeadMs;
    if (Math.abs(stepMs) <= MAX_DRIFT_MS) return;
    this.#wallLeadMs += stepMs;
    clockStep.stepped(stepMs);
  }
}
