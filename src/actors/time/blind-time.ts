/** Time in which the backend could not hear anything: it was down, suspended, or could not write. Unix ms. */
export interface BlindInterval {
  beginMs: number;
  endMs: number;
}

/** The intervals that still matter, oldest first. Nothing that was silent only while we were blind is alerted on. */
export class BlindTime {
  /** How long all intervals were that were added, ms: those that no deadline counts from any more, too. */
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

  /** Keeps the intervals that a deadline still counts from, and the last one: later inputs may have come just before it. */
  keepFirstAfter(inputsAtMs: Iterable<number>): void {
    const used = new Set<BlindInterval | undefined>([this.#intervals.at(-1)]);
    for (const sinceMs of inputsAtMs) used.add(this.#firstAfter(sinceMs));
    this.#intervals = this.#intervals.filter((interval) => used.has(interval));
  }

  /**
   * How much later than nominal a deadline is due that counts from an input at `sinceMs`: it counts from the end of the
   * first blind interval after that input. Later intervals give no further grace, so that a crash loop silences nothing.
   */
  graceMs(sinceMs: number): number {
    const first = this.#firstAfter(sinceMs);
    return first === undefined ? 0 : first.endMs - sinceMs;
  }

  /** How long we were blind in the interval that gives the grace. */
  lengthMs(sinceMs: number): number {
    const first = this.#firstAfter(sinceMs);
    return first === undefined ? 0 : first.endMs - first.beginMs;
  }

  #firstAfter(sinceMs: number): BlindInterval | undefined {
    return this.#intervals.find(({ endMs }) => endMs > sinceMs);
  }
}
