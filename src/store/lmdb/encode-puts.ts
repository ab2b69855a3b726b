import { CODECS } from '../records/codecs.ts';
import type { Event } from '../../resources/event.ts';
import { encodeOutboxEntry } from '../records/outbox-entry.ts';
import { type OutboxEntry, TABLE_NAMES, type TableName } from '../records/records.ts';
import type { Allocate } from '../encoding/sealed.ts';
import { encodeJsonInTicks, TickBudget } from '../commit/tick-budget.ts';
import type { WriteSet } from '../commit/transactional-store.ts';

/** The changes of one table, as they are stored: `null` = deleted. */
export interface EncodedChanges {
  table: TableName;
  changes: [key: string, value: Buffer | null][];
}

interface EncodeOptions {
  allocate?: Allocate;
  yieldToOthers?: () => Promise<unknown>;
}

/** Encodes the changes of a transaction. Yields to other work between large ones, and within them. */
export async function encodePuts(
  puts: WriteSet['puts'],
  { allocate, yieldToOthers }: EncodeOptions = {},
): Promise<EncodedChanges[]> {
  const budget = new TickBudget(yieldToOthers);
  const entries = new EntryEncoder(budget, allocate);
  const tables: EncodedChanges[] = [];
  for (const table of TABLE_NAMES) {
    const changes: EncodedChanges['changes'] = [];
    for (const [key, value] of puts[table]) {
      if (value === null) {
        changes.push([key, null]);
        continue;
      }
      const encoded =
        table === 'outbox' || table === 'deadLetters'
          ? await entries.encode(value as OutboxEntry)
          : CODECS[table].encode(value as never, allocate);
      changes.push([key, encoded]);
      const pause = budget.spend(encoded.length);
      if (pause !== undefined) await pause;
    }
    tables.push({ table, changes });
  }
  return tables;
}

/** Encodes entries of the outbox and dead letters. Successive entries with the same event share its JSON. */
class EntryEncoder {
  readonly #budget: TickBudget;
  readonly #allocate: Allocate | undefined;
  #last: { event: Event; json: Buffer[] } | undefined;

  constructor(budget: TickBudget, allocate: Allocate | undefined) {
    this.#budget = budget;
    this.#allocate = allocate;
  }

  async encode(entry: OutboxEntry): Promise<Buffer> {
    const { event } = entry;
    if (this.#last?.event !== event) this.#last = { event, json: await encodeJsonInTicks(event, this.#budget) };
    return encodeOutboxEntry(entry, this.#last.json, this.#allocate);
  }
}
