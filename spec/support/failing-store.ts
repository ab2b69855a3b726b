import type { WriteSet } from '../../src/store/commit/transactional-store.ts';
import { DelegatingStore } from './delegating-store.ts';

/** More writes than follow one another after any single action of a test. */
const MAX_CHAINED_WRITES = 4;

/** A store whose writes can be made to fail, as on a full disk. Reads still work. */
export class FailingStore extends DelegatingStore {
  /** Number of attempted writes. */
  writes = 0;
  readonly #inFlight = new Set<Promise<void>>();
  #failures = 0;
  #held: { onWait(): void; released: Promise<void>; release(): void } | undefined;

  /** Makes the next `n` writes fail. They store nothing. */
  failNextWrites(n: number): void {
    this.#failures = n;
  }

  /** Makes all writes fail until `heal`. */
  failUntilHealed(): void {
    this.#failures = Infinity;
  }

  heal(): void {
    this.#failures = 0;
    this.release();
  }

  /** Makes writes wait until `release`, as on a slow disk. Resolves when the first write waits. */
  hold(): Promise<void> {
    return new Promise((onWait) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      this.#held = { onWait, released, release };
    });
  }

  release(): void {
    this.#held?.release();
    this.#held = undefined;
  }

  /**
   * Resolves when no write is in flight and none follows: a write may wait for the one before it and starts a tick later. Held writes do
   * not count.
   */
  async settled(): Promise<void> {
    for (let write = 0; write < MAX_CHAINED_WRITES; write += 1) {
      while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  override async write(set: WriteSet): Promise<void> {
    this.writes += 1;
    const held = this.#held;
    held?.onWait();
    if (held !== undefined) await held.released;
    const written = this.#attempt(set);
    this.#inFlight.add(written);
    try {
      await written;
    } finally {
      this.#inFlight.delete(written);
    }
  }

  async #attempt(set: WriteSet): Promise<void> {
    if (this.#failures === 0) return this.store.write(set);
    this.#failures -= 1;
    throw new Error('no space left on device');
  }
}
