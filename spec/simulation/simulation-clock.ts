import { ManualClock } from '../support/manual-clock.ts';

/** Turns of the event loop in a row in which nothing is read or written: nobody is left who would. */
const QUIET_TURNS = 3;

/** Nothing is waited for but turns of the event loop: there is no disk and no network. */
export class SimulationClock extends ManualClock {
  #stirs = 0;

  /** Something was read or written: what follows from it needs its turns. */
  stir(): void {
    this.#stirs += 1;
  }

  override async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      const before = this.#stirs;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#stirs !== before) quiet = 0;
    }
  }
}
