/** Places for as many runs at a time. The others wait in order. */
export class Slots {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** 0 for no limit. */
  constructor(max: number) {
    this.#max = max === 0 ? Infinity : max;
  }

  /** Runs `run` when there is a place for it. */
  async with<T>(run: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#max) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      // The place goes to the next one without becoming free.
      if (next === undefined) this.#used -= 1;
      else next();
    }
  }
}
