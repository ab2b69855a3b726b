import type { Clock } from '../ports/clock.ts';

/** Requests that are made in one tick of the event loop. */
const REQUESTS_PER_TICK = 20;
/** No further request is made in a tick after this time, ms. */
const TICK_MS = 10;
/** Bytes of requests that are not stored yet. Further ones wait for the commit. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;
/** Requests that are not stored yet. They are sent to the sessions in one tick, with the commit. Further ones wait for the commit. */
const MAX_WAITING_REQUESTS = 200;

/** A request that was made. */
export interface MadeRequest {
  bytes: number;
  /** Settles when the request was sent to the sessions, or was lost. */
  durable: Promise<void>;
}

interface Job {
  make: () => MadeRequest | undefined;
  done: () => void;
}

/**
 * Paces the requests of all runs together, so that they neither block the event loop nor fill the memory. Each run waits
 * until its request is made, so that the runs alternate.
 */
export class RequestPacer {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Bounded by the number of runs. */
  readonly #jobs: Job[] = [];
  #made = 0;
  #tickAtMs = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #isTickOpen = false;
  #isRunning = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Calls `make` when a request may be made, and resolves after that. `make` must not throw. */
  request(make: Job['make']): Promise<void> {
    return new Promise((done) => {
      this.#jobs.push({ make, done });
      this.#run();
    });
  }

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      this.#made += 1;
      this.#count(job.make());
      job.done();
    }
    this.#isRunning = false;
  }

  #next(): Job | undefined {
    const isFull = this.#waiting >= MAX_WAITING_REQUESTS || this.#waitingBytes >= MAX_WAITING_BYTES;
    if (this.#jobs.length === 0 || isFull) return undefined;
    this.#openTick();
    const isOver = this.#made >= REQUESTS_PER_TICK || this.#clock.monotonicMs() - this.#tickAtMs >= TICK_MS;
    return isOver && this.#made > 0 ? undefined : this.#jobs.shift();
  }

  #openTick(): void {
    if (this.#isTickOpen) return;
    this.#isTickOpen = true;
    this.#made = 0;
    this.#tickAtMs = this.#clock.monotonicMs();
    setImmediate(() => {
      this.#isTickOpen = false;
      this.#run();
    });
  }

  #count(made: MadeRequest | undefined): void {
    if (made === undefined) return;
    const { bytes, durable } = made;
    const settled = (): void => {
      this.#waiting -= 1;
      this.#waitingBytes -= bytes;
      this.#run();
    };
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    durable.then(settled, settled);
  }
}
