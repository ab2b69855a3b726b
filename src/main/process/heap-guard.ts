import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../../ports/clock.ts';

/** This many connections that close within `WITHIN_MS` are a mass disconnect. */
const MANY = 100;
const WITHIN_MS = 1_000;
/** The time in which most agents reconnect after a mass disconnect, ms. */
const COMPACT_AFTER_MS = 15_000;
/** The time for which the heap is compacted then, ms. */
const COMPACT_FOR_MS = 45_000;

/** `slowGrowth` collects the old generation more often. `compacting` also moves objects out of partly free pages and releases these. */
export type HeapMode = 'normal' | 'slowGrowth' | 'compacting';

/**
 * V8 reads these flags at each collection. `--heap-growing-percent` is how far the old generation grows before it is collected, in
 * percent of what survived; 0 is V8's own choice, up to 300. V8 moves at most 4 MB of live objects in a collection, and up to 12 MB
 * when it optimises for size. `--optimize-for-size` also limits the young generation of new threads, which only
 * `--max-semi-space-size=0` undoes.
 */
const FLAGS: Record<HeapMode, readonly string[]> = {
  normal: ['--heap-growing-percent=0', '--no-optimize-for-size', '--max-semi-space-size=0'],
  slowGrowth: ['--heap-growing-percent=100', '--no-optimize-for-size', '--max-semi-space-size=0'],
  compacting: ['--heap-growing-percent=100', '--optimize-for-size'],
};

/** Sets the flags of V8 for a mode. */
export function setHeapMode(mode: HeapMode): void {
  for (const flag of FLAGS[mode]) setFlagsFromString(flag);
}

/**
 * Keeps the heap small after a mass disconnect of agents. Each reconnect replaces long-lived objects, so the old generation would
 * fill with garbage, up to a size that V8 keeps afterwards, and its pages would stay partly free.
 */
export class HeapGuard {
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #set: (mode: HeapMode) => void;
  #sinceMs = -Infinity;
  #closed = 0;
  #mode: HeapMode = 'normal';
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'after' | 'monotonicMs'>, set = setHeapMode) {
    this.#clock = clock;
    this.#set = set;
  }

  /** Must be called for each connection that closes. */
  connectionClosed(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs > WITHIN_MS) [this.#sinceMs, this.#closed] = [nowMs, 0];
    this.#closed += 1;
    if (this.#closed === MANY) this.#massDisconnected();
  }

  #massDisconnected(): void {
    this.#enter('slowGrowth');
    this.#cancel = this.#clock.after(COMPACT_AFTER_MS, () => {
      this.#enter('compacting');
      this.#cancel = this.#clock.after(COMPACT_FOR_MS, () => {
        this.#enter('normal');
      });
    });
  }

  #enter(mode: HeapMode): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#set(mode);
  }

  /** Lets the heap grow as usual. */
  stop(): void {
    this.#enter('normal');
  }
}
