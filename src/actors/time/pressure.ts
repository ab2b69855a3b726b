import type { BlindInterval } from './blind-time.ts';

/** Shorter than that, what was not read in time is read before anybody is missed. */
const MIN_BLIND_MS = 2_000;

export interface PressurePorts {
  /** Whether too much waits to be stored. */
  isStoreFull(): boolean;
  /** Whether too much waits to be handled. */
  isOutboxFull(): boolean;
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

  get isFull(): boolean {
    return this.full !== undefined;
  }

  /** What is full; the first time that something is, is remembered. */
  get full(): 'store' | 'outbox' | undefined {
    const full = this.#full();
    if (full !== undefined) this.#sinceMs ??= this.#ports.nowMs();
    return full;
  }

  /** To be asked when something was stored: the blind time that has just ended, if any that matters. */
  relieved(): BlindInterval | undefined {
    const beginMs = this.#sinceMs;
    if (beginMs === undefined || this.#full() !== undefined) return undefined;
    this.#sinceMs = undefined;
    const endMs = this.#ports.nowMs();
    return endMs - beginMs < MIN_BLIND_MS ? undefined : { beginMs, endMs };
  }

  #full(): 'store' | 'outbox' | undefined {
    if (this.#ports.isStoreFull()) return 'store';
    return this.#ports.isOutboxFull() ? 'outbox' : undefined;
  }
}
