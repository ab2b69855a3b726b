import { INDEX_MARK, type RecordWrite, type StoredRecord, type TablePass } from './migrations/migration.ts';
import {
  type Environment,
  type EnvironmentOptions,
  type EnvironmentSize,
  ledgerTable,
  openEnvironment,
  sizeOf,
  type TextTable,
  textTable,
} from './lmdb-environment.ts';
import { keyAfter } from './keyspace.ts';
import type { LedgerEntry } from './ledger.ts';
import type { IndexedLedger } from './ledger-index.ts';
import { readLedgerEntry } from './ledger-codec.ts';
import { CorruptRecord, sealText, sealed, unseal } from './sealed.ts';

const META = 'meta';
const LEDGER = 'ledger';

/** A stored value as it is in its table, for comparison. */
export interface StoredBytes {
  key: string | number;
  value: Buffer;
}

/** A batch of records, and those of them whose checksum does not match. */
export interface RecordBatch {
  records: StoredRecord[];
  unreadable: string[];
  /** The last key that was read, readable or not; undefined at the end of the table. */
  lastKey: string | undefined;
}

/** A store of any version, as tables of sealed values. It does not interpret the values, except those of `meta`. */
export class RawStore {
  readonly #root: Environment;
  readonly #opened = new Map<string, TextTable>();

  /** @throws CorruptRecord when the file is not a database */
  constructor(options: EnvironmentOptions) {
    this.#root = openEnvironment(options);
  }

  tableNames(): string[] {
    return [...this.#root.getKeys({ snapshot: false })];
  }

  /** Returns a value of the table `meta`. @throws CorruptRecord */
  meta(key: string): unknown {
    const bytes = this.#table(META).get(key);
    return bytes === undefined ? undefined : (JSON.parse(unseal(bytes, `meta ${key}`).toString()) as unknown);
  }

  /** Reads the records of a table after a key: at least one, and at most `maxRecords` or about `maxBytes`. */
  batch(
    { table, isIndex = false }: Pick<TablePass, 'table' | 'isIndex'>,
    after: string | null,
    { maxRecords, maxBytes }: { maxRecords: number; maxBytes: number },
  ): RecordBatch {
    const batch: RecordBatch = { records: [], unreadable: [], lastKey: undefined };
    let bytes = 0;
    const range = { ...(after === null ? {} : { start: keyAfter(after) }), limit: maxRecords, snapshot: false };
    for (const { key, value } of this.#table(table).getRange(range)) {
      if (batch.lastKey !== undefined && bytes + value.length > maxBytes) break;
      bytes += value.length;
      batch.lastKey = key;
      try {
        batch.records.push({ key, payload: isIndex ? value : unseal(value, `${table} ${key}`) });
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error;
        batch.unreadable.push(key);
      }
    }
    return batch;
  }

  /** Writes records and values of `meta` (null deletes) in one transaction. It is durable when this returns. */
  write(records: readonly RecordWrite[], meta: Readonly<Record<string, unknown>>): void {
    const sealedMeta = Object.entries(meta).map(([key, value]) => ({
      table: META,
      key,
      value: value === null ? null : sealText(JSON.stringify(value)),
    }));
    const sealedRecords = records.map(({ table, key, payload }) => ({
      table,
      key,
      value: payload === null ? null : payload === INDEX_MARK ? Buffer.alloc(0) : sealed(payload),
    }));
    const changes = [...sealedRecords, ...sealedMeta].map((change) => ({
      ...change,
      database: this.#table(change.table),
    }));
    this.#root.transactionSync(() => {
      for (const { database, key, value } of changes) {
        if (value === null) database.removeSync(key);
        else database.putSync(key, value);
      }
    });
    this.#root.resetReadTxn();
  }

  /** Iterates over all values of a table as they are stored, in the order of their keys. */
  *bytesOf(table: string): Iterable<StoredBytes> {
    const database = table === LEDGER ? ledgerTable(this.#root) : this.#table(table);
    yield* database.getRange({ snapshot: false }) as Iterable<StoredBytes>;
  }

  *ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const { key, value } of ledgerTable(this.#root).getRange({ snapshot: false })) {
      yield { seq: key, entry: readLedgerEntry(value, key) };
    }
  }

  /** The ledger with its indexes, for comparison. */
  indexedLedger(): IndexedLedger {
    const entries = ledgerTable(this.#root);
    const isStored = new Set(this.tableNames());
    return {
      entry: (seq) => {
        const value = entries.get(seq);
        return value === undefined ? undefined : readLedgerEntry(value, seq);
      },
      hasKey: (table, key) => isStored.has(table) && this.#table(table).doesExist(key),
      keysOf: (table) => (isStored.has(table) ? this.#table(table).getKeys({ snapshot: false }) : []),
    };
  }

  size(): EnvironmentSize {
    const databases = this.tableNames().map((name) => (name === LEDGER ? ledgerTable(this.#root) : this.#table(name)));
    return sizeOf(this.#root, databases);
  }

  /** Copies the data file without its free pages into an existing directory. */
  copyTo(directory: string): Promise<void> {
    return this.#root.backup(directory, true);
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #table(name: string): TextTable {
    let table = this.#opened.get(name);
    if (table === undefined) {
      table = textTable(this.#root, name);
      this.#opened.set(name, table);
    }
    return table;
  }
}
