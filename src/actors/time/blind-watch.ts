import type { Clock } from '../../ports/clock.ts';
import type { BlindInterval } from './blind-time.ts';
import type { SteadyTime } from './steady-time.ts';

/** A process that comes to run later than this did not run: it was stopped, suspended, or stuck. */
const MAX_LATE_MS = 2_000;
/** The wall clock was set when it differs by more from where it was. */
const MAX_DRIFT_MS = 1_000;

export interface BlindWatchPorts {
  clock: Clock;
  time: SteadyTime;
  /** The process did not run in `interval`; for `unreadMs` of it, by the monotonic clock, sockets could have been read. */
  blind(interval: BlindInterval, unreadMs: number): void;
  /** Somebody set the wall clock, by so much. */
  stepped(byMs: number): void;
}

/** Notices at run time that the process could not hear anything for a while, and that the wall clock was set. */
export class BlindWatch {
  readonly #ports: BlindWatchPorts;
  #lookedAtMs: number;
  #lookedAtMonotonicMs: number;
  #wallLeadMs: number;

  constructor(ports: BlindWatchPorts) {
    this.#ports = ports;
    this.#lookedAtMs = ports.time.nowMs();
    this.#lookedAtMonotonicMs = ports.clock.monotonicMs();
    this.#wallLeadMs = ports.time.wallLeadMs();
  }

  /** To be called by timers before they act: `dueMs` is when they should have run. */
  look(dueMs: number): void {
    const { clock, time, blind, stepped } = this.#ports;
    time.catchUp();
    const nowMs = time.nowMs();
    const monotonicMs = clock.monotonicMs();
    const interval = { beginMs: this.#lookedAtMs, endMs: nowMs };
    const unreadMs = monotonicMs - this.#lookedAtMonotonicMs;
    this.#lookedAtMs = nowMs;
    this.#lookedAtMonotonicMs = monotonicMs;
    // What is late since before the last look was noticed then.
    if (nowMs - Math.max(dueMs, interval.beginMs) > MAX_LATE_MS) blind(interval, unreadMs);
    const stepMs = time.wallLeadMs() - this.#wallLeadMs;
    if (Math.abs(stepMs) <= MAX_DRIFT_MS) return;
    this.#wallLeadMs += stepMs;
    stepped(stepMs);
  }
}
