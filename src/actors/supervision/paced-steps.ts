import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { ExpectedError } from '../../resources/errors.ts';
import { ActorFailed } from '../core/actor-failed.ts';

export interface PacedStepsPorts {
  clock: Pick<Clock, 'after'>;
  log: Log;
  /** Takes one step. Returns the time until the next one, ms; undefined = `wake` says when. */
  step: () => Promise<number | undefined>;
  /** Logged when a step throws, except for errors that were answered or logged where they arose. */
  failure: string;
  /** The delay after a step that threw, ms. */
  retryMs: number;
}

/** Takes one step after the other, with time for other inputs in between. */
export class PacedSteps {
  readonly #ports: PacedStepsPorts;
  #cancel: (() => void) | undefined;
  #isRunning = false;
  /** The time of a `wake` during a step. */
  #wokenMs: number | undefined;

  constructor(ports: PacedStepsPorts) {
    this.#ports = ports;
  }

  /** `delayMs`: until the first step. */
  start(delayMs: number): void {
    this.#isRunning = true;
    this.#continueIn(delayMs);
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
  }

  /** Ensures that a step follows, when none is due. */
  wake(delayMs: number): void {
    if (this.#cancel === undefined) this.#continueIn(delayMs);
    else this.#wokenMs = delayMs;
  }

  #continueIn(delayMs: number | undefined): void {
    this.#cancel = undefined;
    if (!this.#isRunning || delayMs === undefined) return;
    this.#cancel = this.#ports.clock.after(delayMs, () => void this.#take());
  }

  async #take(): Promise<void> {
    const { step, log, failure, retryMs } = this.#ports;
    this.#wokenMs = undefined;
    try {
      this.#continueIn((await step()) ?? this.#wokenMs);
    } catch (err) {
      if (!(err instanceof ActorFailed || err instanceof ExpectedError)) log.error({ err }, failure);
      this.#continueIn(retryMs);
    }
  }
}
