import type { QueueStats } from '../../ports/queue-stats.ts';
import { type KeptBeside, keptOf } from './encoded-event.ts';
import type { EventRecord, TableName } from './records.ts';

/** Events whose state is kept in memory; above it those that had no recent result are read from the store. */
export const MAX_KEPT_EVENTS = 200_000;

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

  /** Takes over what a decision puts. Returns the keys of the events of which no state was kept: they may be new. */
  join(puts: readonly { table: TableName; key: string; value: unknown }[]): string[] {
    const possiblyNew: string[] = [];
    for (const { table, key, value } of puts) {
      if (table !== 'events') continue;
      if (value === null) this.#drop(key);
      else if (!this.#keep(key, value as EventRecord)) possiblyNew.push(key);
    }
    return possiblyNew;
  }

  #keep(key: string, record: EventRecord): boolean {
    if (this.#recent.size >= this.#limit / 2) this.forgetIdle();
    const { size } = this.#recent;
    this.#recent.set(key, keptOf(record));
    return this.#recent.size === size || this.#earlier.has(key);
  }

  #drop(key: string): void {
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
