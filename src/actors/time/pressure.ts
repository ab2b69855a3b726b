import type { BlindInterval } from './blind-time.ts';

/** A shorter pause hides no silent sender: what was not read in time is read before its deadline is decided. */
const MIN_BLIND_MS = 2_000;

/** Decisions that wait for a transaction, the memory, the size of the store, or runs of handlers that wait. */
export type Full = 'store' | 'memory' | 'quota' | 'outbox';

interface Bounded {
  readonly isFull: boolean;
}

export interface PressurePorts {
  /** Holds the changes that wait to be stored. */
  store: Bounded;
  /** The memory; no limit when absent. */
  memory?: Bounded;
  /** The size of the store; no limit when absent. */
  quota?: Bounded;
  /** Steady time, ms. */
  nowMs(): number;
}

/** Whether senders must pause, and since when: what is not read meanwhile counts as blind time. */
export class Pressure {
  readonly #ports: PressurePorts;
  #outbox: Bounded | undefined;
  #sinceMs: number | undefined;

  constructor(ports: PressurePorts) {
    this.#ports = ports;
  }

  /** Sets the part that handles the outbox. Until then the outbox counts as not full. */
  setOutbox(outbox: Bounded): void {
    this.#outbox = outbox;
  }

  get isOutboxFull(): boolean {
    return this.#outbox?.isFull === true;
  }

  get isFull(): boolean {
    return this.full !== undefined;
  }

  /** Whether large deletions must pause. They free memory and the store, so that those may be full. */
  get holdsDeletions(): boolean {
    return this.#ports.store.isFull || this.isOutboxFull;
  }

  /** The queue that is full, if any. The pause begins when the first queue is full. */
  get full(): Full | undefined {
    const full = this.#full();
    if (full !== undefined) this.#sinceMs ??= this.#ports.nowMs();
    return full;
  }

  /** Ends the pause if nothing is full any more; returns it if it is long enough to count as blind time. */
  relieved(): BlindInterval | undefined {
    const beginMs = this.#sinceMs;
    if (beginMs === undefined || this.#full() !== undefined) return undefined;
    this.#sinceMs = undefined;
    const endMs = this.#ports.nowMs();
    return endMs - beginMs < MIN_BLIND_MS ? undefined : { beginMs, endMs };
  }

  #full(): Full | undefined {
    if (this.#ports.store.isFull) return 'store';
    if (this.#ports.memory?.isFull === true) return 'memory';
    if (this.#ports.quota?.isFull === true) return 'quota';
    return this.isOutboxFull ? 'outbox' : undefined;
  }
}
