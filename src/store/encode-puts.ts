import { setImmediate as nextTick } from 'node:timers/promises';
import { CODECS } from './codecs.ts';
import { TABLE_NAMES, type TableName, type Tables } from './records.ts';
import type { WriteSet } from './transactional-store.ts';

/** Bytes encoded in one tick. One event can be in the outbox for many handlers, with 10 MiB or more for each. */
const MAX_BYTES_PER_TICK = 4 * 1024 * 1024;

/** The changes of one table, as they are stored: `null` = deleted. */
export interface EncodedChanges {
  table: TableName;
  changes: [key: string, value: Buffer | null][];
}

/** Encodes the changes of a transaction. Yields to other work between large ones. */
export async function encodePuts(
  puts: WriteSet['puts'],
  yieldToOthers: () => Promise<unknown> = nextTick,
): Promise<EncodedChanges[]> {
  const tables: EncodedChanges[] = [];
  let bytes = 0;
  for (const table of TABLE_NAMES) {
    const changes: EncodedChanges['changes'] = [];
    for (const [key, value] of puts[table]) {
      const encoded = value === null ? null : encode(table, value);
      changes.push([key, encoded]);
      bytes += encoded?.length ?? 0;
      if (bytes < MAX_BYTES_PER_TICK) continue;
      await yieldToOthers();
      bytes = 0;
    }
    tables.push({ table, changes });
  }
  return tables;
}

const encode = <T extends TableName>(table: T, value: Tables[T]): Buffer => CODECS[table].encode(value);
