import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import { isUnchangedSinceCleanStop, markCleanStop, removeMark } from './clean-stop.ts';
import { CODECS, decodeKept } from '../records/codecs.ts';
import { type EncodedChanges, encodePuts } from './encode-puts.ts';
import type { EventSize } from '../records/event-sizes.ts';
import type { KeptEvent } from '../records/kept-events.ts';
import { afterPrefix, eventIndexKey, isPossibleKey } from '../encoding/keyspace.ts';
import {
  type Environment,
  type EnvironmentOptions,
  openEnvironment,
  sizeOf,
  sizeOfTable,
  type TextTable,
  textTable,
} from './lmdb-environment.ts';
import { hasData } from './lmdb-file.ts';
import type { LedgerEntry, LedgerHead } from '../ledger/ledger.ts';
import type { LedgerExtent } from '../ledger/ledger-cut.ts';
import type { KeyQuery, KeySlice, LedgerQuery, LedgerSlice } from '../ledger/ledger-query.ts';
import { LedgerTables } from './ledger-tables.ts';
import { ResourceCache } from './resource-cache.ts';
import { Slab } from './slab.ts';
import { type AgentQueue, type EntityRecord, TABLE_NAMES, type TableName, type Tables } from '../records/records.ts';
import {
  assertCurrent,
  STORE_VERSION,
  STORE_VERSION_KEY,
  type UnfinishedUpgrade,
  UPGRADE_KEY,
} from './store-version.ts';
import type { Range, StoreSize, TableSize, TransactionalStore, WriteSet } from '../commit/transactional-store.ts';

/** Agents whose queue numbers are cached. */
const MAX_CACHED_AGENT_QUEUES = 20_000;
/** Entities whose state is cached. Each event that names a stored entity reads it. */
const MAX_CACHED_ENTITIES = 1_000;

/** The value of an index entry, which has its information in the key alone. */
const MARK = Buffer.alloc(0);

export interface LmdbStoreOptions extends EnvironmentOptions {
  /** Whether the caller has read all records of the store, and none is damaged. */
  isChecked?: boolean;
}

/** The store on LMDB: named databases with text keys and sealed values; the ledger under its sequence numbers. */
export class LmdbStore implements TransactionalStore {
  readonly #root: Environment;
  readonly #directory: string;
  /** A store whose write failed, that may have damaged records, or that was only read, has no clean stop. */
  #marksStop: boolean;
  readonly #tables: Record<TableName, TextTable>;
  readonly #eventsByCheck: TextTable;
  readonly #ledger: LedgerTables;
  /** The memory for the next write. */
  #slab: Slab | undefined = new Slab();
  readonly #resources = new ResourceCache((key) => this.#read('resources', key));
  readonly #agentQueues = new LRUCache<string, AgentQueue[]>(atMost(MAX_CACHED_AGENT_QUEUES));
  readonly #entities = new LRUCache<string, EntityRecord>(atMost(MAX_CACHED_ENTITIES));
  /** Entities that are being written: they are stored before their cached states change, together with the events of their agents. */
  #writtenEntities: WriteSet['puts']['entities'] | undefined;

  /**
   * Opens a store of the current version; a new one is created where there is none.
   *
   * @throws StoreTooNew, StoreOutdated, StoreTooOld when the store has another version
   * @throws CorruptRecord when its file is not a database
   */
  constructor(options: LmdbStoreOptions) {
    const { directory, readOnly = false, isChecked = false } = options;
    this.#directory = directory;
    this.#marksStop = !readOnly && (isChecked || !hasData(directory) || isUnchangedSinceCleanStop(directory));
    if (!readOnly) removeMark(directory);
    this.#root = openEnvironment(options);
    try {
      const table = (name: string): TextTable => textTable(this.#root, name);
      const meta = table('meta');
      this.#assertVersion(meta, readOnly);
      this.#tables = Object.fromEntries(
        TABLE_NAMES.map((name) => [name, name === 'meta' ? meta : table(name)]),
      ) as Record<TableName, TextTable>;
      this.#eventsByCheck = table('eventsByCheck');
      this.#ledger = new LedgerTables(this.#root, meta);
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
    if (!isPossibleKey(key)) return undefined;
    if (table === 'resources') return this.#resources.get(key) as Tables[T] | undefined;
    // The numbers of an agent's queues are read and written with each of its events.
    if (table === 'agentQueues') return (this.#agentQueues.get(key) ?? this.#read(table, key)) as Tables[T] | undefined;
    if (table === 'entities') return this.#getEntity(key) as Tables[T] | undefined;
    return this.#read(table, key);
  }

  #getEntity(key: string): EntityRecord | undefined {
    if (this.#writtenEntities?.has(key) === true) return this.#read('entities', key);
    const cached = this.#entities.get(key);
    if (cached !== undefined) return cached;
    const read = this.#read('entities', key);
    if (read !== undefined) this.#entities.set(key, read);
    return read;
  }

  #read<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const bytes = this.#tables[table].get(key);
    return bytes === undefined ? undefined : this.#decode(table, key, bytes);
  }

  keptOfEvent(key: string): KeptEvent | undefined {
    // The memory is LMDB's and is valid until the next read; nothing of it is kept.
    const bytes = this.#tables.events.getBinaryFast(key);
    return bytes && this.#checked(() => decodeKept(bytes, `events ${key}`));
  }

  /** @throws CorruptRecord, after which the next start checks the store */
  #decode<T extends TableName>(table: T, key: string, bytes: Buffer): Tables[T] {
    return this.#checked(() => CODECS[table].decode(bytes, `${table} ${key}`));
  }

  #checked<V>(decode: () => V): V {
    try {
      return decode();
    } catch (error) {
      this.#marksStop = false;
      throw error;
    }
  }

  async write({ puts, ledger, isStoredEvent = () => false }: WriteSet): Promise<void> {
    let ledgerDurable = (): void => undefined;
    // Another write, or one that failed and may still be read by LMDB, keeps its own.
    const slab = this.#slab ?? new Slab();
    this.#slab = undefined;
    const { allocate } = slab;
    this.#writtenEntities = puts.entities;
    try {
      const tables = await encodePuts(puts, { allocate });
      await this.#root.batch(() => {
        for (const { table, changes } of tables) this.#writeTable(table, changes, isStoredEvent);
        ledgerDurable = this.#ledger.put(ledger, allocate);
      });
    } catch (error) {
      this.#marksStop = false;
      this.#writtenEntities = undefined;
      // The promise of the batch reports the failure; a second one has its cause.
      const cause: unknown = await Promise.resolve((error as { commitError?: Promise<unknown> }).commitError).catch(
        (commitError: unknown) => commitError,
      );
      throw new Error('transaction failed', { cause: cause ?? error });
    }
    slab.reuse();
    this.#slab = slab;
    this.#root.resetReadTxn();
    ledgerDurable();
    this.#updateCaches(puts);
  }

  #updateCaches({ resources, entities, agentQueues }: WriteSet['puts']): void {
    this.#writtenEntities = undefined;
    for (const [key, record] of entities) {
      if (record === null) this.#entities.delete(key);
      else if (this.#entities.has(key)) this.#entities.set(key, record);
    }
    if (resources.size > 0) this.#resources.forget(resources.keys());
    for (const [key, queues] of agentQueues) {
      if (queues === null) this.#agentQueues.delete(key);
      else this.#agentQueues.set(key, queues);
    }
  }

  #writeTable(table: TableName, changes: EncodedChanges['changes'], isStored: (key: string) => boolean): void {
    const database = this.#tables[table];
    for (const [key, value] of changes) {
      if (table === 'events' && (value === null || !isStored(key))) this.#indexByCheck(key, value === null);
      if (value === null) void database.remove(key);
      else void database.put(key, value);
    }
  }

  /** Writes the index only when a key is created or deleted: in the steady state an event is one put. */
  #indexByCheck(key: string, deleted: boolean): void {
    if (!deleted && this.#tables.events.doesExist(key)) return;
    const indexKey = eventIndexKey(key);
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

  *eventSizes(prefix: string): Iterable<EventSize> {
    for (const { key, value } of this.#tables.events.getRange(cursorOver({ from: prefix, to: afterPrefix(prefix) }))) {
      yield { key, bytes: value.length };
    }
  }

  ledgerHead(): LedgerHead {
    return this.#ledger.head();
  }

  ledgerSlice(query: LedgerQuery): LedgerSlice {
    return this.#ledger.slice(query);
  }

  ledgerSliceOfKey(query: KeyQuery): KeySlice {
    return this.#ledger.sliceOfKey(query);
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    return this.#ledger.last(actor, key);
  }

  async cutLedger(throughSeq: number, limit: number): Promise<boolean> {
    const { apply, isDone } = this.#ledger.cut(throughSeq, limit);
    try {
      await this.#root.batch(apply);
    } catch (error) {
      this.#marksStop = false;
      throw error;
    }
    this.#root.resetReadTxn();
    return isDone;
  }

  ledgerExtent(): LedgerExtent {
    return this.#ledger.extent();
  }

  ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    return this.#ledger.all();
  }

  tableSize(table: TableName): TableSize {
    return sizeOfTable(this.#root, this.#tables[table]);
  }

  size(): StoreSize {
    const databases = [...Object.values(this.#tables), this.#eventsByCheck, ...this.#ledger.databases];
    return {
      ...sizeOf(this.#root, databases),
      cachedResources: this.#resources.stats,
    };
  }

  async close(): Promise<void> {
    await this.#root.close();
    if (this.#marksStop) markCleanStop(this.#directory);
  }
}

/** LMDB excludes the end of a range, and of a reversed one its beginning. `from` is included and `to` is not, so that both move down. */
function cursorOver({ from, to, isReversed = false, ...counts }: Range) {
  if (!isReversed) return { start: from, end: to, snapshot: false, ...counts };
  return { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse: true, snapshot: false, ...counts };
}
