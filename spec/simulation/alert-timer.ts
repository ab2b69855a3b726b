import { type Oracle, Undecided } from './oracle/oracle.ts';
import type { SimulationClock } from './simulation-clock.ts';

/** Raises the oracle's alerts at their times, on the clock of the simulation. */
export class AlertTimer {
  /** Set after two simultaneous alerts whose order is not specified. */
  isUndecided = false;
  readonly #clock: SimulationClock;
  readonly #oracle: Oracle;
  readonly #isWritable: () => boolean;
  #cancel: (() => void) | undefined;

  /** No alert is raised while `isWritable` is false. */
  constructor(clock: SimulationClock, oracle: Oracle, isWritable: () => boolean) {
    this.#clock = clock;
    this.#oracle = oracle;
    this.#isWritable = isWritable;
  }

  /** Sets the alarm for the next alert again; called after everything that may move it. */
  reset(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const due = this.#isWritable() ? this.#oracle.nextDue() : undefined;
    if (due === undefined) return;
    this.#cancel = this.#clock.after(due.atMs - this.#oracle.steadyMs, () => {
      this.#raise();
    });
  }

  #raise(): void {
    try {
      this.#oracle.alert();
      this.reset();
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.isUndecided = true;
    }
  }
}
