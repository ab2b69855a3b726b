/** Limits the number of runs at a time. Further runs wait in order. */
export class Slots {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** 0 for no limit. */
  constructor(max: number) {
    this.#max = max === 0 ? Infinity : max;
  }

  /** Calls `run` when a slot is free. */
  async with<T>(run: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#max) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      // The slot passes to the next run without becoming free.
      if (next === undefined) this.#used -= 1;
      else next();
    }
  }
}
