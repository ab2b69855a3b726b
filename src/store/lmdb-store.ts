import { type Database, open, type RootDatabase } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { CODECS } from './codecs.ts';
import { afterPrefix, eventAddress, ledgerIndexKey, seqOfIndexKey } from './keyspace.ts';
import { keepForOwner, prepareDataFile } from './lmdb-file.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from './ledger.ts';
import { type ResourceRecord, TABLE_NAMES, type TableName, type Tables } from './records.ts';
import { CorruptRecord, sealText, unseal } from './sealed.ts';
import type { LedgerQuery, Range, StoreSize, TransactionalStore, WriteSet } from './transactional-store.ts';

const MAX_DATABASES = 16;
/** The layout of the databases; a binary refuses a newer one. */
const STORE_VERSION = 2;
const STORE_VERSION_KEY = 'store-version';
/** Decoded resources that are kept, absent ones included. */
const MAX_CACHED_RESOURCES = 10_000;
/** Two pages that say where everything is. */
const META_PAGES = 2;
const ABSENT: ResourceRecord = Object.freeze({});

/** The value of an index entry: only its key says something. */
const MARK = Buffer.alloc(0);

export class StoreTooNew extends Error {}

export interface LmdbStoreOptions {
  /** Directory of the environment; made if it does not exist. */
  directory: string;
  /** `none` survives `kill -9` but not a power cut. */
  sync: 'full' | 'none';
  readOnly?: boolean;
}

type Bytes = Database<Buffer, string>;

/** What LMDB tells of one of its trees. */
interface TreeStats {
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;

function encodeLedgerEntry(entry: LedgerEntry): Buffer {
  return sealText(JSON.stringify(entry));
}

function decodeLedgerEntry(bytes: Buffer, seq: number): LedgerEntry {
  return JSON.parse(unseal(bytes, `ledger entry ${seq}`).toString()) as LedgerEntry;
}

/** The store on LMDB: named databases with text keys and sealed values; the ledger under its numbers. */
export class LmdbStore implements TransactionalStore {
  readonly #root: RootDatabase<Buffer, string>;
  readonly #tables: Record<TableName, Bytes>;
  readonly #eventsByCheck: Bytes;
  readonly #ledger: Database<Buffer, number>;
  readonly #ledgerByKey: Bytes;
  readonly #resources = new LRUCache<string, ResourceRecord>({ max: MAX_CACHED_RESOURCES });

  /** @throws StoreTooNew when a newer version wrote the directory, CorruptRecord when its file is no database */
  constructor({ directory, sync, readOnly = false }: LmdbStoreOptions) {
    if (!readOnly) prepareDataFile(directory);
    this.#root = open<Buffer, string>({
      path: directory,
      encoding: 'binary',
      maxDbs: MAX_DATABASES,
      overlappingSync: false,
      eventTurnBatching: false,
      noSync: sync === 'none',
      readOnly,
    });
    if (!readOnly) keepForOwner(directory);
    const table = (name: string): Bytes => this.#root.openDB<Buffer, string>({ name, encoding: 'binary' });
    this.#tables = Object.fromEntries(TABLE_NAMES.map((name) => [name, table(name)])) as Record<TableName, Bytes>;
    this.#eventsByCheck = table('eventsByCheck');
    this.#ledger = this.#root.openDB<Buffer, number>({ name: 'ledger', encoding: 'binary', keyEncoding: 'uint32' });
    this.#ledgerByKey = table('ledgerByKey');
    this.#assertVersion(readOnly);
  }

  #assertVersion(readOnly: boolean): void {
    const version = this.get('meta', STORE_VERSION_KEY);
    if (typeof version === 'number' && version > STORE_VERSION) {
      throw new StoreTooNew(`the store has version ${version}, this program knows up to ${STORE_VERSION}`);
    }
    if (typeof version === 'number' && version < STORE_VERSION) {
      throw new Error(`the store has version ${version}, from before the first release; begin with an empty directory`);
    }
    if (version === undefined && !readOnly) {
      this.#tables.meta.putSync(STORE_VERSION_KEY, CODECS.meta.encode(STORE_VERSION));
    }
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return table === 'resources' ? (this.#getResource(key) as Tables[T] | undefined) : this.#read(table, key);
  }

  /** Configuration is read with every event and seldom changes. */
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
      // The batch's own promise tells of the failure, a second one holds the cause.
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

  /** Only when a key is made or deleted: in the steady state an event is one put. */
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

  *eventKeysOfCheck(namespace: string, check: string): Iterable<string> {
    const prefix = `${namespace}/${check}/`;
    for (const key of this.#eventsByCheck.getKeys({ start: prefix, end: afterPrefix(prefix), snapshot: false })) {
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

  /** Entries are in order of time, but for jumps of the clock: a binary search finds where to begin. */
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
      yield { seq, entry: readEntry(value, seq) };
    }
  }

  /** What is neither in a tree nor in the list of free pages is free. */
  size(): StoreSize {
    const { pageSize, lastPageNumber, free, ...root } = this.#root.getStats() as TreeStats & {
      pageSize: number;
      lastPageNumber: number;
      free: TreeStats;
    };
    const databases = [...Object.values(this.#tables), this.#eventsByCheck, this.#ledger, this.#ledgerByKey];
    const trees = [root, free, ...databases.map((database) => database.getStats() as TreeStats)];
    const pages = lastPageNumber + 1;
    const usedPages = trees.reduce((sum, tree) => sum + pagesOf(tree), META_PAGES);
    return {
      bytes: pages * pageSize,
      usedBytes: usedPages * pageSize,
      freePages: pages - usedPages,
      cachedResources: { used: this.#resources.size, limit: MAX_CACHED_RESOURCES },
    };
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

const cursorOver = ({ from, to, ...counts }: Range) => ({ start: from, end: to, snapshot: false, ...counts });

function readEntry(bytes: Buffer, seq: number): LedgerEntry | Error {
  try {
    return decodeLedgerEntry(bytes, seq);
  } catch (error) {
    return error instanceof Error ? error : new Error('unreadable', { cause: error });
  }
}
