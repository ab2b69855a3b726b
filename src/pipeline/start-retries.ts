import type { Clock } from '../ports/clock.ts';
import type { ScheduledRun } from './fair-scheduler.ts';

/** The time until a handler that could not be started is tried again. It doubles with each attempt. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

interface Retry {
  delayMs: number;
  /** Cancels the delay; undefined between its end and the next failure. */
  cancel: (() => void) | undefined;
}

/** Delays the next attempt to start a handler. There is one delay for all runs of the handler, however many failed. */
export class StartRetries {
  readonly #retries = new Map<string, Retry>();
  readonly #clock: Clock;
  readonly #resume: (handler: ScheduledRun) => boolean;

  /** `resume` is called when the handler may be tried again, and returns whether it has anything to run. */
  constructor(clock: Clock, resume: (handler: ScheduledRun) => boolean) {
    this.#clock = clock;
    this.#resume = resume;
  }

  /** Begins a delay for a handler that could not be started. Returns the delay, ms; undefined if one has begun already. */
  failed({ namespace, handler }: ScheduledRun): number | undefined {
    const id = `${namespace}/${handler}`;
    const known = this.#retries.get(id);
    if (known?.cancel !== undefined) return undefined;
    const delayMs = known === undefined ? FIRST_DELAY_MS : Math.min(2 * known.delayMs, LONGEST_DELAY_MS);
    const retry: Retry = { delayMs, cancel: undefined };
    retry.cancel = this.#clock.after(delayMs, () => {
      retry.cancel = undefined;
      if (!this.#resume({ namespace, handler })) this.#retries.delete(id);
    });
    this.#retries.set(id, retry);
    return delayMs;
  }

  /**
   * Records that the handler was started: the next failure begins with the shortest delay, unless a delay is under way.
   */
  started({ namespace, handler }: ScheduledRun): void {
    const id = `${namespace}/${handler}`;
    if (this.#retries.get(id)?.cancel === undefined) this.#retries.delete(id);
  }

  stop(): void {
    for (const { cancel } of this.#retries.values()) cancel?.();
    this.#retries.clear();
  }
}
