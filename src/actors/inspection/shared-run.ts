/** Whether a caller does not wait for the result any more. */
export type HasLeft = () => boolean;

/** Lets callers at the same time share one run of something expensive. */
export class SharedRun<T> {
  readonly #run: (isWanted: () => boolean) => Promise<T>;
  #running: Promise<T> | undefined;
  #next: { callers: HasLeft[]; result: Promise<T> } | undefined;

  /** `run` may end early, with any result, when no caller waits for it any more. */
  constructor(run: (isWanted: () => boolean) => Promise<T>) {
    this.#run = run;
  }

  /** Resolves with the result of a run that began after the call. */
  result(hasLeft: HasLeft): Promise<T> {
    if (this.#running === undefined) return this.#begin([hasLeft]);
    if (this.#next === undefined) {
      const callers = [hasLeft];
      const begin = () => this.#begin(callers);
      this.#next = { callers, result: this.#running.then(begin, begin) };
    } else this.#next.callers.push(hasLeft);
    return this.#next.result;
  }

  #begin(callers: readonly HasLeft[]): Promise<T> {
    this.#next = undefined;
    const isWanted = (): boolean => callers.some((hasLeft) => !hasLeft());
    const running = this.#run(isWanted).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
