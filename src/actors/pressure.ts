import type { BlindInterval } from './blind-time.ts';

/** Shorter than that, what was not read in time is read before anybody is missed. */
const MIN_BLIND_MS = 2_000;

export interface PressurePorts {
  /** Whether too much waits to be stored or handled. */
  isFull(): boolean;
  /** Steady time, ms. */
  nowMs(): number;
}

/** Whether senders must wait, and for how long they already do: what is not read cannot be heard. */
export class Pressure {
  readonly #ports: PressurePorts;
  #sinceMs: number | undefined;

  constructor(ports: PressurePorts) {
    this.#ports = ports;
  }

  /** The first time that it is, is remembered. */
  get isFull(): boolean {
    const isFull = this.#ports.isFull();
    if (isFull) this.#sinceMs ??= this.#ports.nowMs();
    return isFull;
  }

  /** To be asked when something was stored: the blind time that has just ended, if any that matters. */
  relieved(): BlindInterval | undefined {
    const beginMs = this.#sinceMs;
    if (beginMs === undefined || this.#ports.isFull()) return undefined;
    this.#sinceMs = undefined;
    const endMs = this.#ports.nowMs();
    return endMs - beginMs < MIN_BLIND_MS ? undefined : { beginMs, endMs };
  }
}
