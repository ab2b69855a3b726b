import { setImmediate as nextTick } from 'node:timers/promises';

/** Work is done for this time before other requests are served. */
const SLICE_MS = 10;
/** Items after which they are served in any case. */
const MAX_ITEMS = 64;

/**
 * Divides long work into slices. They end by time, and not only after a number of items, because one item may be an event
 * with megabytes of output.
 */
export class TimeSlices {
  readonly #sliceMs: number;
  #endMs: number;
  #items = 0;

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
    this.#endMs = performance.now() + sliceMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Must be called after each item. Serves other requests when the slice is over. */
  async pause(): Promise<void> {
    this.#items += 1;
    if (this.#items < MAX_ITEMS && !this.isOver) return;
    await nextTick();
    this.restart();
  }

  restart(): void {
    this.#items = 0;
    this.#endMs = performance.now() + this.#sliceMs;
  }
}
