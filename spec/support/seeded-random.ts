/** Chance that is the same for the same seed. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed;
  }

  /** The seed of the environment variable `MON_SPEC_SEED`, so that a failure can be played again, or a new one. */
  static fresh(): SeededRandom {
    const given = process.env['MON_SPEC_SEED'];
    return new SeededRandom(given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given));
  }

  /** Uniform in [0, 1). Source: the generator called mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Uniform in 0 … `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** True one time in `count`. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }
}
