/** A random number generator that repeats its sequence for the same seed. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed;
  }

  /** Uses the seed of the environment variable `MON_SPEC_SEED`, which repeats a failed run, or a new one. */
  static fresh(): SeededRandom {
    const given = process.env['MON_SPEC_SEED'];
    return new SeededRandom(given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given));
  }

  /** Returns a number uniform in [0, 1). Source: the generator mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer uniform in 0 … `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns true with probability 1 / `count`. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }
}
