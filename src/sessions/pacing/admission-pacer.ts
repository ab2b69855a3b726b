import { Fifo } from '../../pipeline/fifo.ts';

/** Agents admitted in one tick of the event loop. */
const ADMISSIONS_PER_TICK = 32;

type Task = () => void;

/**
 * Spreads a burst of connects or disconnects over several ticks of the event loop, in order, so that other work is not
 * delayed.
 */
export class AdmissionPacer {
  readonly #admissionsPerTick: number;
  readonly #waiting = new Fifo<Task>();
  #ranThisTick = 0;
  #waitingCount = 0;
  #emptyWaiters: (() => void)[] = [];

  constructor(admissionsPerTick = ADMISSIONS_PER_TICK) {
    this.#admissionsPerTick = admissionsPerTick;
  }

  /** Runs `task` at once unless others wait or this tick has reached its limit. `task` must not throw. */
  schedule(task: Task): void {
    if (this.#waiting.isEmpty && this.#ranThisTick < this.#admissionsPerTick) {
      this.#run(task);
    } else {
      this.#waiting.push(task);
      this.#waitingCount += 1;
    }
  }

  /** Resolves when no task waits. */
  async empty(): Promise<void> {
    if (this.#waitingCount > 0) await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  #run(task: Task): void {
    if (this.#ranThisTick === 0) {
      setImmediate(() => {
        this.#tick();
      });
    }
    this.#ranThisTick += 1;
    task();
  }

  #tick(): void {
    this.#ranThisTick = 0;
    while (this.#ranThisTick < this.#admissionsPerTick) {
      const task = this.#waiting.shift();
      if (task === undefined) break;
      this.#waitingCount -= 1;
      this.#run(task);
    }
    if (this.#waitingCount > 0) return;
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }
}
