import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../../ports/clock.ts';

/** As many connections that close within this time, ms, are a mass disconnect. */
const MANY = 100;
const WITHIN_MS = 1_000;
/** The time after a mass disconnect in which the heap grows less, ms. Agents reconnect in it. */
const LESS_GROWTH_MS = 60_000;

/** How far the old generation of V8 grows before it is collected, in percent of what survived; 0 is V8's own choice, up to 300. */
export type HeapGrowth = 0 | 100;

const setGrowth = (percent: HeapGrowth): void => {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
};

/**
 * Lets the heap grow less after a mass disconnect of agents. Each reconnect replaces long-lived objects, so the old generation would
 * fill with garbage, up to a size that V8 keeps afterwards.
 */
export class HeapGuard {
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #setGrowth: (percent: HeapGrowth) => void;
  #sinceMs = -Infinity;
  #closed = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'after' | 'monotonicMs'>, set = setGrowth) {
    this.#clock = clock;
    this.#setGrowth = set;
  }

  /** Must be called for each connection that closes. */
  connectionClosed(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs > WITHIN_MS) [this.#sinceMs, this.#closed] = [nowMs, 0];
    this.#closed += 1;
    if (this.#closed === MANY) this.#growLess();
  }

  #growLess(): void {
    if (this.#cancel === undefined) this.#setGrowth(100);
    else this.#cancel();
    this.#cancel = this.#clock.after(LESS_GROWTH_MS, () => {
      this.#cancel = undefined;
      this.#setGrowth(0);
    });
  }

  /** Lets the heap grow as usual. */
  stop(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#setGrowth(0);
  }
}
