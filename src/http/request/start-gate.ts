import type { Clock } from '../../ports/clock.ts';
import type { Answer } from './route.ts';

const NOT_YET = 'API unavailable during startup.\nSee api-serve-wait-time settings.\n\n';

/** Keeps requests out while the backend has just started, whoever sends them. */
export class StartGate {
  readonly #clock: Clock;
  readonly #opensAtMs: number;
  readonly #refusal: Answer;

  /** The wait begins now. */
  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#opensAtMs = clock.monotonicMs() + waitMs;
    this.#refusal = {
      status: 503,
      type: 'text/plain; charset=utf-8',
      body: NOT_YET,
      headers: { 'X-Content-Type-Options': 'nosniff', 'Retry-After': String(Math.floor(waitMs / 1_000)) },
    };
  }

  /** Undefined once it is open. */
  get refusal(): Answer | undefined {
    return this.#clock.monotonicMs() < this.#opensAtMs ? this.#refusal : undefined;
  }
}

/** Of what nobody waits for. */
export const OPEN_GATE: Pick<StartGate, 'refusal'> = { refusal: undefined };
