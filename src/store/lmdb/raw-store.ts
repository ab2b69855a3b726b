import { INDEX_MARK, type RecordWrite, type StoredRecord, type TablePass } from '../migrations/migration.ts';
import {
  type Environment,
  type EnvironmentOptions,
  type EnvironmentSize,
  ledgerTable,
  type LedgerTable,
  openEnvironment,
  sizeOf,
  type TextTable,
  textTable,
} from './lmdb-environment.ts';
import { keyAfter } from '../encoding/keyspace.ts';
import type { LedgerEntry } from '../ledger/ledger.ts';
import type { IndexedLedger, IndexTable } from '../ledger/ledger-index.ts';
import { readLedgerEntry } from '../ledger/ledger-codec.ts';
import { CorruptRecord, sealText, sealed, unseal } from '../encoding/sealed.ts';

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
  #ledger: LedgerTable | undefined;

  /** @throws CorruptRecord when the file is not a database */
  constructor(options: EnvironmentOptions) {
    this.#root = openEnvironment(options);
  }

  /** Reads the first and the last record of each table by LMDB itself. @throws Error of LMDB for a damaged page */
  readEnds(): void {
    for (const table of this.tableNames()) {
      const database = table === LEDGER ? this.#ledgerTable() : this.#table(table);
      for (const reverse of [false, true]) {
        for (const { value } of database.getRange({ limit: 1, reverse, snapshot: false })) void value.length;
      }
    }
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
    const database = table === LEDGER ? this.#ledgerTable() : this.#table(table);
    yield* database.getRange({ snapshot: false }) as Iterable<StoredBytes>;
  }

  /** Returns a value as it is stored. */
  valueOf(table: string, key: string): Buffer | undefined {
    return this.#table(table).get(key);
  }

  /** Iterates over keys in order, from `from` up to and without `to`. */
  keysOf(table: string, { from, to }: { from: string; to: string }): Iterable<string> {
    return this.#table(table).getKeys({ start: from, end: to, snapshot: false });
  }

  *ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const { key, value } of this.#ledgerTable().getRange({ snapshot: false })) {
      yield { seq: key, entry: readLedgerEntry(value, key) };
    }
  }

  /**
   * The ledger with its indexes, for comparison. They are those of one moment until the caller yields to the event
   * loop: LMDB begins another read transaction when a table is opened, so all are opened here.
   */
  indexedLedger(): IndexedLedger {
    const entries = this.#ledgerTable();
    const stored = new Set(this.tableNames());
    const indexOf = (name: IndexTable) => (stored.has(name) ? this.#table(name) : undefined);
    const indexes = { ledgerByKey: indexOf('ledgerByKey'), ledgerByActor: indexOf('ledgerByActor') };
    return {
      entry: (seq) => {
        const value = entries.get(seq);
        return value === undefined ? undefined : readLedgerEntry(value, seq);
      },
      hasKey: (table, key) => indexes[table]?.doesExist(key) ?? false,
      keysOf: (table) => indexes[table]?.getKeys({ snapshot: false }) ?? [],
    };
  }

  size(): EnvironmentSize {
    const databases = this.tableNames().map((name) => (name === LEDGER ? this.#ledgerTable() : this.#table(name)));
    return sizeOf(this.#root, databases);
  }

  /** Runs `read` within a read transaction: meanwhile no page that the store has now is written again, also by other processes. */
  duringRead<T>(read: () => T): T {
    const transaction = this.#root.useReadTransaction();
    try {
      return read();
    } finally {
      transaction.done();
    }
  }

  /** Copies the data file without its free pages into an existing directory. */
  copyTo(directory: string): Promise<void> {
    return this.#root.backup(directory, true);
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #ledgerTable(): LedgerTable {
    this.#ledger ??= ledgerTable(this.#root);
    return this.#ledger;
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
