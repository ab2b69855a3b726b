import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { isShortageError } from '../rules/shortage.ts';
import { FetchFailed } from './asset-failed.ts';

const MAX_RUNNING_FETCHES = 32;
const MAX_WAITING_FETCHES = 1_000;
/** Beyond this number, the fetch that failed longest ago may be tried again at once. */
const MAX_REMEMBERED_FAILURES = 1_000;
/** The pause after the first failure. It doubles with each further one. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** A failure that says nothing about the server, and after which the next try may be at once. */
export class NotTried extends FetchFailed {}

type Run<T> = (signal: AbortSignal) => Promise<T>;

interface Fetch<T> {
  result: Promise<T>;
  users: number;
  abort: AbortController;
}

interface Failure {
  error: FetchFailed;
  pauseMs: number;
  untilMs: number;
}

/**
 * Runs one fetch of each key at a time for all its users, and a bounded number in all. After a failure the next users get the same error
 * for a while, so that a server that is down is not asked for each event.
 */
export class SharedFetches<T> {
  readonly #clock: Clock;
  readonly #fetches = new Map<string, Fetch<T>>();
  readonly #failures = new LRUCache<string, Failure>(atMost(MAX_REMEMBERED_FAILURES));
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #refused = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get running(): QueueStats {
    return { used: this.#running, limit: MAX_RUNNING_FETCHES };
  }

  get waiting(): QueueStats {
    return { used: this.#waiting.length, limit: MAX_WAITING_FETCHES, refused: this.#refused };
  }

  get failures(): QueueStats {
    return { used: this.#failures.size, limit: MAX_REMEMBERED_FAILURES };
  }

  /** Joins the fetch of the key, or starts it. It is aborted when all its users have given up. */
  async join(key: string, run: Run<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const fetch = this.#fetches.get(key) ?? this.#start(key, run);
    fetch.users += 1;
    try {
      return await orAborted(fetch.result, signal);
    } finally {
      fetch.users -= 1;
      if (fetch.users === 0) fetch.abort.abort(new FetchFailed('fetching the asset was aborted'));
    }
  }

  /** Aborts all fetches. */
  abort(): void {
    for (const { abort } of this.#fetches.values()) abort.abort(new FetchFailed('fetching assets was stopped'));
  }

  #start(key: string, run: Run<T>): Fetch<T> {
    const failure = this.#failures.get(key);
    if (failure !== undefined && this.#clock.monotonicMs() < failure.untilMs) throw failure.error;
    const abort = new AbortController();
    const result = this.#run(key, run, abort.signal, failure);
    const fetch: Fetch<T> = { result, users: 0, abort };
    this.#fetches.set(key, fetch);
    const forget = (): void => void (this.#fetches.get(key) === fetch && this.#fetches.delete(key));
    result.then(forget, forget);
    abort.signal.addEventListener('abort', forget);
    return fetch;
  }

  async #run(key: string, run: Run<T>, signal: AbortSignal, failure: Failure | undefined): Promise<T> {
    await this.#takePlace();
    try {
      signal.throwIfAborted();
      const result = await run(signal);
      this.#failures.delete(key);
      return result;
    } catch (error) {
      if (error instanceof FetchFailed && isOfServer(error) && !signal.aborted) {
        const pauseMs = failure === undefined ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, failure.pauseMs * 2);
        this.#failures.set(key, { error, pauseMs, untilMs: this.#clock.monotonicMs() + pauseMs });
      }
      throw error;
    } finally {
      this.#givePlace();
    }
  }

  /** Waits for a place among the running fetches. */
  async #takePlace(): Promise<void> {
    if (this.#running < MAX_RUNNING_FETCHES) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING_FETCHES) {
      this.#refused += 1;
      throw new NotTried('too many assets wait to be fetched');
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives the place to the fetch that has waited longest. */
  #givePlace(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** Whether the server or the archive is to blame for a failure, and not this system. */
const isOfServer = (error: FetchFailed): boolean => !(error instanceof NotTried) && !isShortageError(error);

/** Resolves as the promise does, or rejects when the signal is aborted first. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = withReject();
  const onAbort = (): void => {
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function withReject(): { promise: Promise<never>; reject(error: Error): void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, rejectIt) => (reject = rejectIt));
  return { promise, reject };
}
