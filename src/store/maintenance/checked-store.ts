import { CODECS } from '../records/codecs.ts';
import { eventIndexKey } from '../encoding/keyspace.ts';
import type { RawStore } from '../lmdb/raw-store.ts';
import type { TableName, Tables } from '../records/records.ts';
import { CorruptRecord } from '../encoding/sealed.ts';
import type { TableReader } from '../records/table-reader.ts';

/** Above every key. */
const ALL = { from: '', to: '~' };

/** A store of the current version for a check: unreadable records are distinguished from absent ones, and the indexes can be read. */
export class CheckedStore implements TableReader {
  readonly #store: RawStore;
  /** Those of a new table are absent until a backend has started. */
  readonly #tables: ReadonlySet<string>;

  constructor(store: RawStore) {
    this.#store = store;
    this.#tables = new Set(store.tableNames());
  }

  #bytes(table: string, key: string): Buffer | undefined {
    return this.#tables.has(table) ? this.#store.valueOf(table, key) : undefined;
  }

  /** Returns a record; undefined when it is absent or cannot be read. */
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const bytes = this.#bytes(table, key);
    const decoded = bytes === undefined ? undefined : decode(table, key, bytes);
    return typeof decoded === 'object' && decoded !== null && 'unreadable' in decoded ? undefined : decoded?.value;
  }

  has(table: TableName, key: string): boolean {
    return this.#bytes(table, key) !== undefined;
  }

  keys(table: TableName | 'eventsByCheck', range = ALL): Iterable<string> {
    return this.#tables.has(table) ? this.#store.keysOf(table, range) : [];
  }

  /** Iterates over the records of a table, each with its value, or why it cannot be read. */
  *records<T extends TableName>(table: T): Iterable<{ key: string } & ({ value: Tables[T] } | { unreadable: string })> {
    if (!this.#tables.has(table)) return;
    for (const { key, value } of this.#store.bytesOf(table)) {
      yield { key: String(key), ...decode(table, String(key), value) };
    }
  }

  /** Whether `eventsByCheck` has an event. */
  isIndexed(event: string): boolean {
    return this.#bytes('eventsByCheck', eventIndexKey(event)) !== undefined;
  }
}

function decode<T extends TableName>(
  table: T,
  key: string,
  bytes: Buffer,
): { value: Tables[T] } | { unreadable: string } {
  try {
    return { value: CODECS[table].decode(bytes, `${table} ${key}`) };
  } catch (error) {
    // With a right checksum, the content has a layout that this program does not know.
    const reason =
      error instanceof CorruptRecord ? 'its checksum does not match' : `it cannot be read: ${String(error)}`;
    return { unreadable: reason };
  }
}
