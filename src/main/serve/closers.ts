/** The functions that close the parts opened so far. */
export class Closers {
  readonly #closers: (() => Promise<void> | void)[] = [];

  add(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  /** Closes all parts, in reverse order of opening. A second call closes only the parts opened since. */
  async closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
