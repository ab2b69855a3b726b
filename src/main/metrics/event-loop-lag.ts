import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** The interval of the measurements. A delay beyond it is lag. */
const RESOLUTION_MS = 10;
/** Each result covers this window and the one before, so that two scrapers do not take results from each other. */
const WINDOW_MS = 60_000;
const NS_PER_S = 1e9;

/** Seconds. */
export interface Lag {
  median: number;
  p99: number;
  max: number;
}

const NONE: Lag = { median: 0, p99: 0, max: 0 };

/** The lag of the event loop, on the clock of the machine. */
export class EventLoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #begunAtMs = performance.now();
  #before = NONE;

  start(): void {
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** The larger of the lag in the current window and in the one before. */
  read(): Lag {
    const current: Lag = this.#histogram.count === 0 ? NONE : this.#current();
    const worse = {
      median: Math.max(current.median, this.#before.median),
      p99: Math.max(current.p99, this.#before.p99),
      max: Math.max(current.max, this.#before.max),
    };
    if (performance.now() - this.#begunAtMs >= WINDOW_MS) {
      this.#before = current;
      this.#begunAtMs = performance.now();
      this.#histogram.reset();
    }
    return worse;
  }

  #current(): Lag {
    return {
      median: lagOf(this.#histogram.percentile(50)),
      p99: lagOf(this.#histogram.percentile(99)),
      max: lagOf(this.#histogram.max),
    };
  }
}

const lagOf = (delayNs: number): number => Math.max(0, delayNs / NS_PER_S - RESOLUTION_MS / 1_000);
