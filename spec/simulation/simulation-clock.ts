import { ManualClock } from '../support/manual-clock.ts';

/** After this many ticks of the event loop without a read or a write, no work is left. */
const QUIET_TICKS = 3;

/** A manual clock that waits for ticks of the event loop only: there is no disk and no network. */
export class SimulationClock extends ManualClock {
  #activities = 0;

  /** Reports a read or a write, whose consequences need further ticks. */
  reportActivity(): void {
    this.#activities += 1;
  }

  override async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TICKS; quiet += 1) {
      const before = this.#activities;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#activities !== before) quiet = 0;
    }
  }
}
