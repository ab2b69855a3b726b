import type { QueueStats } from '../../ports/queue-stats.ts';
import { type KeptBeside, keptOf } from './encoded-event.ts';
import type { EventRecord } from './records.ts';

/** The state that the store keeps beside an event, about a kilobyte. */
export type KeptEvent = Omit<KeptBeside, 'attributes'>;

/**
 * The newest state beside each event, durable or not, so that the next result of a key reads neither the batches nor the store.
 * Entries that were not used between two calls of `forgetIdle` are dropped, and at the limit those that were not used recently.
 */
export class KeptEvents {
  readonly #limit: number;
  #recent = new Map<string, KeptEvent>();
  #earlier = new Map<string, KeptEvent>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): QueueStats {
    return { used: this.#recent.size + this.#earlier.size, limit: this.#limit };
  }

  get(key: string): KeptEvent | undefined {
    return this.#recent.get(key) ?? this.#earlier.get(key);
  }

  /** Takes over what a decision puts. Returns true if a state of the event was kept; false proves nothing. */
  keep(key: string, record: EventRecord): boolean {
    if (this.#recent.size >= this.#limit / 2) this.forgetIdle();
    const { size } = this.#recent;
    this.#recent.set(key, keptOf(record));
    return this.#recent.size === size || this.#earlier.has(key);
  }

  drop(key: string): void {
    this.#recent.delete(key);
    this.#earlier.delete(key);
  }

  clear(): void {
    this.#recent = new Map();
    this.#earlier = new Map();
  }

  forgetIdle(): void {
    this.#earlier = this.#recent;
    this.#recent = new Map();
  }
}
