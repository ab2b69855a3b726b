import type { Clock } from '../../ports/clock.ts';
import { Fifo } from '../../pipeline/fifo.ts';

/** Agents admitted in one tick of the event loop. */
const ADMISSIONS_PER_TICK = 32;
/** Agents admitted in one tick while connections arrive. */
const ADMISSIONS_DURING_ARRIVALS = 4;
/** Time without admissions after such a tick, ms. */
const BETWEEN_ADMISSIONS_MS = 3;

type Task = () => void;

/**
 * Spreads a burst of connects or disconnects over several ticks of the event loop, in order, so that other work is not
 * delayed.
 *
 * Node.js accepts one connection of a port in each tick. While connections arrive, fewer agents are admitted, so that ticks are
 * short. Otherwise the operating system's queue of connections overflows, and those that it drops are repeated only after 1, 3 and
 * 7 seconds.
 */
export class AdmissionPacer {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #admissionsPerTick: number;
  readonly #waiting = new Fifo<Task>();
  #waitingCount = 0;
  #emptyWaiters: (() => void)[] = [];
  #isTickDue = false;
  /** Tasks that may still run before the next tick. */
  #left: number;
  /** Whether a connection was accepted since the last tick. */
  #isArriving = false;
  #admittedAtMs = -Infinity;

  constructor(clock: Pick<Clock, 'monotonicMs'>, admissionsPerTick = ADMISSIONS_PER_TICK) {
    this.#clock = clock;
    this.#admissionsPerTick = admissionsPerTick;
    this.#left = admissionsPerTick;
  }

  /** Must be called for each connection that the port accepts. */
  connectionAccepted(): void {
    this.#isArriving = true;
    this.#awaitTick();
  }

  /** Runs `task` at once unless others wait, connections arrive, or this tick has reached its limit. `task` must not throw. */
  schedule(task: Task): void {
    if (this.#waiting.isEmpty && !this.#isArriving && this.#left > 0) {
      this.#run(task);
    } else {
      this.#waiting.push(task);
      this.#waitingCount += 1;
      this.#awaitTick();
    }
  }

  /** Resolves when no task waits. */
  async empty(): Promise<void> {
    if (this.#waitingCount > 0) await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  #run(task: Task): void {
    this.#left -= 1;
    this.#awaitTick();
    task();
  }

  #awaitTick(): void {
    if (this.#isTickDue) return;
    this.#isTickDue = true;
    setImmediate(() => {
      this.#isTickDue = false;
      this.#tick();
    });
  }

  #tick(): void {
    this.#left = this.#isArriving ? this.#allowedDuringArrivals() : this.#admissionsPerTick;
    this.#isArriving = false;
    if (this.#left > 0 && this.#waitingCount > 0) this.#runWaiting();
    if (this.#waitingCount > 0) {
      this.#awaitTick();
      return;
    }
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }

  #allowedDuringArrivals(): number {
    const isPause = this.#clock.monotonicMs() - this.#admittedAtMs < BETWEEN_ADMISSIONS_MS;
    return isPause ? 0 : Math.min(ADMISSIONS_DURING_ARRIVALS, this.#admissionsPerTick);
  }

  #runWaiting(): void {
    while (this.#left > 0) {
      const task = this.#waiting.shift();
      if (task === undefined) break;
      this.#waitingCount -= 1;
      this.#run(task);
    }
    this.#admittedAtMs = this.#clock.monotonicMs();
  }
}
