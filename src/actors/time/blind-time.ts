/** A time in which the backend received nothing: it was down or suspended, or could not write. Unix ms. */
export interface BlindInterval {
  beginMs: number;
  endMs: number;
}

/**
 * `sinceMs` of a deadline whose input is not known yet, because its snapshot is yet to be rebuilt: blind time gives it no grace,
 * and every interval is kept for the deadline that replaces it.
 */
export const UNKNOWN_INPUT = -Infinity;

/** The blind intervals that deadlines count from, oldest first. A sender that was silent only in one of them raises no alert. */
export class BlindTime {
  /** The length of all intervals added since the process started, ms, dropped ones included. */
  addedMs = 0;
  #intervals: readonly BlindInterval[];

  constructor(intervals: readonly BlindInterval[]) {
    this.#intervals = intervals;
  }

  get intervals(): readonly BlindInterval[] {
    return this.#intervals;
  }

  add(interval: BlindInterval): void {
    this.addedMs += interval.endMs - interval.beginMs;
    this.#intervals = [...this.#intervals, interval];
  }

  /** Joins `interval` to the last one, which it continues: nothing was received between the two. */
  extend(interval: BlindInterval): void {
    const { beginMs } = this.#intervals.at(-1) ?? interval;
    this.addedMs += interval.endMs - interval.beginMs;
    this.#intervals = [...this.#intervals.slice(0, -1), { beginMs, endMs: interval.endMs }];
  }

  /**
   * Keeps the intervals that a deadline still counts from, and the last one: a later input may have come just before it. One
   * `UNKNOWN_INPUT` keeps them all.
   */
  keepFirstAfter(inputsAtMs: Iterable<number>): void {
    const used = new Set<BlindInterval | undefined>([this.#intervals.at(-1)]);
    for (const sinceMs of inputsAtMs) {
      if (sinceMs === UNKNOWN_INPUT) return;
      used.add(this.#firstAfter(sinceMs));
    }
    this.#intervals = this.#intervals.filter((interval) => used.has(interval));
  }

  /**
   * How much later than nominal a deadline is due that counts from an input at `sinceMs`: it counts from the end of the first
   * blind interval after that input. Later intervals give no further grace, so that a crash loop cannot suppress an alert.
   */
  graceMs(sinceMs: number): number {
    const first = this.#firstAfter(sinceMs);
    return first === undefined ? 0 : first.endMs - sinceMs;
  }

  /** Returns the grace that a deadline had at `atMs`. Only an interval that had ended by then gives any. */
  graceMsAt(sinceMs: number, atMs: number): number {
    const first = this.#firstAfter(sinceMs);
    return first === undefined || first.endMs > atMs ? 0 : first.endMs - sinceMs;
  }

  /** The length of the interval that gives the grace, ms. */
  lengthMs(sinceMs: number): number {
    const first = this.#firstAfter(sinceMs);
    return first === undefined ? 0 : first.endMs - first.beginMs;
  }

  #firstAfter(sinceMs: number): BlindInterval | undefined {
    if (sinceMs === UNKNOWN_INPUT) return undefined;
    return this.#intervals.find(({ endMs }) => endMs > sinceMs);
  }
}
