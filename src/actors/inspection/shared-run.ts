/** Returns true when the caller has disconnected. */
export type IsDisconnected = () => boolean;

/** Lets callers at the same time share one run of something expensive. */
export class SharedRun<T> {
  readonly #run: (isWanted: () => boolean) => Promise<T>;
  #running: Promise<T> | undefined;
  #next: { callers: IsDisconnected[]; result: Promise<T> } | undefined;

  /** `run` may end early, with any result, when no caller waits for it any more. */
  constructor(run: (isWanted: () => boolean) => Promise<T>) {
    this.#run = run;
  }

  /** Resolves with the result of a run that began after the call. */
  result(isDisconnected: IsDisconnected): Promise<T> {
    if (this.#running === undefined) return this.#begin([isDisconnected]);
    if (this.#next === undefined) {
      const callers = [isDisconnected];
      const begin = () => this.#begin(callers);
      this.#next = { callers, result: this.#running.then(begin, begin) };
    } else this.#next.callers.push(isDisconnected);
    return this.#next.result;
  }

  #begin(callers: readonly IsDisconnected[]): Promise<T> {
    this.#next = undefined;
    const isWanted = (): boolean => callers.some((isDisconnected) => !isDisconnected());
    const running = this.#run(isWanted).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
