import type { Clock } from '../../ports/clock.ts';
import type { Answer } from './route.ts';

const STARTING_UP = 'API unavailable during startup.\nSee api-serve-wait-time settings.\n\n';

/** Rejects requests for a while after the backend has started. */
export class StartGate {
  readonly #clock: Clock;
  readonly #opensAtMs: number;
  readonly #refusal: Answer;

  /** The wait starts at construction. */
  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#opensAtMs = clock.monotonicMs() + waitMs;
    this.#refusal = {
      status: 503,
      type: 'text/plain; charset=utf-8',
      body: STARTING_UP,
      headers: { 'X-Content-Type-Options': 'nosniff', 'Retry-After': String(Math.floor(waitMs / 1_000)) },
    };
  }

  /** The response while the gate is closed; undefined once it is open. */
  get refusal(): Answer | undefined {
    return this.#clock.monotonicMs() < this.#opensAtMs ? this.#refusal : undefined;
  }
}

/** A gate that is always open. */
export const OPEN_GATE: Pick<StartGate, 'refusal'> = { refusal: undefined };
