import type { Database } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { CODECS } from './codecs.ts';
import { afterPrefix, eventAddress, ledgerIndexKey, seqOfIndexKey } from './keyspace.ts';
import {
  type Environment,
  type EnvironmentOptions,
  ledgerTable,
  openEnvironment,
  sizeOf,
  type TextTable,
  textTable,
} from './lmdb-environment.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from './ledger.ts';
import { decodeLedgerEntry, encodeLedgerEntry, readLedgerEntry } from './ledger-codec.ts';
import { type ResourceRecord, TABLE_NAMES, type TableName, type Tables } from './records.ts';
import { CorruptRecord } from './sealed.ts';
import {
  assertCurrent,
  STORE_VERSION,
  STORE_VERSION_KEY,
  type UnfinishedUpgrade,
  UPGRADE_KEY,
} from './store-version.ts';
import type { LedgerQuery, Range, StoreSize, TransactionalStore, WriteSet } from './transactional-store.ts';

/** Decoded resources that are cached, absent ones included. */
const MAX_CACHED_RESOURCES = 10_000;
const ABSENT: ResourceRecord = Object.freeze({});

/** The value of an index entry, which has its information in the key alone. */
const MARK = Buffer.alloc(0);

export type LmdbStoreOptions = EnvironmentOptions;

/** The store on LMDB: named databases with text keys and sealed values; the ledger under its sequence numbers. */
export class LmdbStore implements TransactionalStore {
  readonly #root: Environment;
  readonly #tables: Record<TableName, TextTable>;
  readonly #eventsByCheck: TextTable;
  readonly #ledger: Database<Buffer, number>;
  readonly #ledgerByKey: TextTable;
  readonly #resources = new LRUCache<string, ResourceRecord>({ max: MAX_CACHED_RESOURCES });

  /**
   * Opens a store of the current version; a new one is created where there is none.
   *
   * @throws StoreTooNew, StoreOutdated, StoreTooOld when the store has another version
   * @throws CorruptRecord when its file is not a database
   */
  constructor(options: LmdbStoreOptions) {
    this.#root = openEnvironment(options);
    try {
      const table = (name: string): TextTable => textTable(this.#root, name);
      const meta = table('meta');
      this.#assertVersion(meta, options.readOnly ?? false);
      this.#tables = Object.fromEntries(
        TABLE_NAMES.map((name) => [name, name === 'meta' ? meta : table(name)]),
      ) as Record<TableName, TextTable>;
      this.#eventsByCheck = table('eventsByCheck');
      this.#ledger = ledgerTable(this.#root);
      this.#ledgerByKey = table('ledgerByKey');
    } catch (error) {
      void this.#root.close();
      throw error;
    }
  }

  /** Checked before the other tables are opened: opening a table that does not exist creates it. */
  #assertVersion(meta: TextTable, readOnly: boolean): void {
    const read = (key: string): unknown => {
      const bytes = meta.get(key);
      return bytes === undefined ? undefined : CODECS.meta.decode(bytes, `meta ${key}`);
    };
    const version = read(STORE_VERSION_KEY);
    if (typeof version === 'number') assertCurrent(version, read(UPGRADE_KEY) as UnfinishedUpgrade | undefined);
    else if (!readOnly) meta.putSync(STORE_VERSION_KEY, CODECS.meta.encode(STORE_VERSION));
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return table === 'resources' ? (this.#getResource(key) as Tables[T] | undefined) : this.#read(table, key);
  }

  /** Configuration is read with every event and changes rarely, so that it is cached. */
  #getResource(key: string): ResourceRecord | undefined {
    let known = this.#resources.get(key);
    if (known === undefined) {
      known = this.#read('resources', key) ?? ABSENT;
      this.#resources.set(key, known);
    }
    return known === ABSENT ? undefined : known;
  }

  #read<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const bytes = this.#tables[table].get(key);
    return bytes === undefined ? undefined : this.#decode(table, key, bytes);
  }

  #decode<T extends TableName>(table: T, key: string, bytes: Buffer): Tables[T] {
    return CODECS[table].decode(bytes, `${table} ${key}`);
  }

  async write({ puts, ledger }: WriteSet): Promise<void> {
    try {
      await this.#root.batch(() => {
        for (const table of TABLE_NAMES) this.#writeTable(table, puts[table]);
        for (const entry of ledger) {
          void this.#ledger.put(entry.seq, encodeLedgerEntry(entry));
          void this.#ledgerByKey.put(ledgerIndexKey(entry.actor, entry.key, entry.seq), MARK);
        }
      });
    } catch (error) {
      // The promise of the batch reports the failure; a second one has its cause.
      const cause: unknown = await Promise.resolve((error as { commitError?: Promise<unknown> }).commitError).catch(
        (commitError: unknown) => commitError,
      );
      throw new Error('transaction failed', { cause: cause ?? error });
    }
    this.#root.resetReadTxn();
    for (const key of puts.resources.keys()) this.#resources.delete(key);
  }

  #writeTable<T extends TableName>(table: T, changes: Map<string, Tables[T] | null>): void {
    const database = this.#tables[table];
    const { encode } = CODECS[table];
    for (const [key, value] of changes) {
      if (table === 'events') this.#indexByCheck(key, value === null);
      if (value === null) void database.remove(key);
      else void database.put(key, encode(value));
    }
  }

  /** Writes the index only when a key is created or deleted: in the steady state an event is one put. */
  #indexByCheck(key: string, deleted: boolean): void {
    if (!deleted && this.#tables.events.doesExist(key)) return;
    const { namespace, entity, check } = eventAddress(key);
    const indexKey = `${namespace}/${check}/${entity}`;
    if (deleted) void this.#eventsByCheck.remove(indexKey);
    else void this.#eventsByCheck.put(indexKey, MARK);
  }

  *range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    for (const { key, value } of this.#tables[table].getRange(cursorOver(range))) {
      yield { key, value: this.#decode(table, key, value) };
    }
  }

  keys(table: TableName, range: Range): Iterable<string> {
    return this.#tables[table].getKeys(cursorOver(range));
  }

  *eventKeysOfCheck(namespace: string, check: string, afterEntity = ''): Iterable<string> {
    const prefix = `${namespace}/${check}/`;
    const start = afterEntity === '' ? prefix : `${prefix}${afterEntity}\0`;
    for (const key of this.#eventsByCheck.getKeys({ start, end: afterPrefix(prefix), snapshot: false })) {
      yield `${namespace}/${key.slice(prefix.length)}/${check}`;
    }
  }

  ledgerHead(): LedgerHead {
    for (const { key, value } of this.#ledger.getRange({ reverse: true, limit: 1 })) {
      const { seq, hash } = decodeLedgerEntry(value, key);
      return { seq, hash };
    }
    return GENESIS;
  }

  ledger({ actor, key, sinceMs = 0, untilMs = Infinity, afterSeq = 0, limit }: LedgerQuery): LedgerEntry[] {
    const found: LedgerEntry[] = [];
    const firstSeq = Math.max(afterSeq + 1, sinceMs > 0 ? this.#firstSeqAt(sinceMs) : 0);
    for (const entry of this.#candidates(actor, key, firstSeq)) {
      if (entry.atMs > untilMs || found.length >= limit) break;
      if (entry.atMs < sinceMs) continue;
      if (actor !== undefined && entry.actor !== actor) continue;
      if (key !== undefined && entry.key !== key) continue;
      found.push(entry);
    }
    return found;
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    const start = ledgerIndexKey(actor, key, Number.MAX_SAFE_INTEGER);
    const end = ledgerIndexKey(actor, key, 0);
    for (const indexKey of this.#ledgerByKey.getKeys({ start, end, reverse: true, limit: 1, snapshot: false })) {
      return this.#indexedEntry(indexKey);
    }
    return undefined;
  }

  #indexedEntry(indexKey: string): LedgerEntry {
    const seq = seqOfIndexKey(indexKey);
    const bytes = this.#ledger.get(seq);
    if (bytes === undefined) throw new CorruptRecord(`ledger entry ${seq} is missing`);
    return decodeLedgerEntry(bytes, seq);
  }

  *#candidates(actor: string | undefined, key: string | undefined, firstSeq: number): Iterable<LedgerEntry> {
    if (actor !== undefined && key !== undefined) {
      const start = ledgerIndexKey(actor, key, firstSeq);
      const end = ledgerIndexKey(actor, key, Number.MAX_SAFE_INTEGER);
      for (const indexKey of this.#ledgerByKey.getKeys({ start, end, snapshot: false })) {
        yield this.#indexedEntry(indexKey);
      }
      return;
    }
    for (const { key: seq, value } of this.#ledger.getRange({ start: firstSeq, snapshot: false })) {
      yield decodeLedgerEntry(value, seq);
    }
  }

  /** Finds the first entry at a time by binary search. Entries are in order of time, except after clock changes. */
  #firstSeqAt(atMs: number): number {
    let low = 1;
    let high = this.ledgerHead().seq + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const bytes = this.#ledger.get(middle);
      if (bytes !== undefined && decodeLedgerEntry(bytes, middle).atMs >= atMs) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  *ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const { key: seq, value } of this.#ledger.getRange({ snapshot: false })) {
      yield { seq, entry: readLedgerEntry(value, seq) };
    }
  }

  size(): StoreSize {
    const databases = [...Object.values(this.#tables), this.#eventsByCheck, this.#ledger, this.#ledgerByKey];
    return {
      ...sizeOf(this.#root, databases),
      cachedResources: { used: this.#resources.size, limit: MAX_CACHED_RESOURCES },
    };
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

const cursorOver = ({ from, to, ...counts }: Range) => ({ start: from, end: to, snapshot: false, ...counts });
