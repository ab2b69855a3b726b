import type { QueueStats } from '../../ports/queue-stats.ts';
import type { TablePuts, TableReader } from './decision.ts';
import type { EventSize } from '../records/event-sizes.ts';
import type { KeptEvent } from '../records/kept-events.ts';
import type { LedgerEntry, LedgerHead } from '../ledger/ledger.ts';
import type { LedgerExtent } from '../ledger/ledger-cut.ts';
import type { KeyQuery, KeySlice, LedgerQuery, LedgerSlice } from '../ledger/ledger-query.ts';
import type { TableName, Tables } from '../records/records.ts';

/** The writes of one transaction. */
export interface WriteSet {
  puts: TablePuts;
  ledger: LedgerEntry[];
  /** Whether an event is known to be stored, so that the store is not searched. False does not mean that it is not. */
  isStoredEvent?: (key: string) => boolean;
}

export interface Range {
  /** Keys at or after this one. */
  from: string;
  /** Keys before this one. */
  to: string;
  /** The number of keys to skip first, which costs a fraction of reading them. */
  offset?: number;
  limit?: number;
  /** Whether to begin at the end. */
  isReversed?: boolean;
}

export interface StoreSize {
  /** The size on disk, which never shrinks. */
  bytes: number;
  /** The part of `bytes` that is in use. */
  usedBytes: number;
  /** The pages that are not in use and will be reused. */
  freePages: number;
  /** Decoded resources that are kept in memory. */
  cachedResources: QueueStats;
}

export interface TableSize {
  entries: number;
  bytes: number;
}

/** Reads records by key and by range. */
export interface RangeReader extends TableReader {
  /** Iterates over records in order of keys, with a cursor. */
  range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }>;
  /** Iterates over keys in order. */
  keys(table: TableName, range: Range): Iterable<string>;
}

/** The durable state, with one writer and any number of readers. A write set is applied completely or not at all. */
export interface TransactionalStore extends RangeReader {
  /** Resolves when the write set would survive a power cut. @throws Error when nothing of it was stored */
  write(set: WriteSet): Promise<void>;
  /** The state that is stored beside an event, without reading the event. Absent where that saves nothing. */
  keptOfEvent?(key: string): KeptEvent | undefined;
  /** Keys `<namespace>/<entity>/<check>` of the stored events of a check in the order of their entities, those after `entity` only. */
  eventKeysOfCheck(namespace: string, check: string, afterEntity?: string): Iterable<string>;
  /** The events whose keys begin with `prefix`, with about the bytes of each; decodes none. */
  eventSizes(prefix: string): Iterable<EventSize>;
  ledgerHead(): LedgerHead;
  /** Reads a bounded number of entries and returns those that match. */
  ledgerSlice(query: LedgerQuery): LedgerSlice;
  /** Reads a bounded number of entries of one key, newest first, and returns those up to a time. */
  ledgerSliceOfKey(query: KeyQuery): KeySlice;
  /** The newest entry of one key, in one look-up. */
  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined;
  /**
   * Removes at most about `limit` ledger entries up to a number, oldest first. A durable entry must record the cut first.
   * Resolves when that is durable, to whether none of them is left.
   */
  cutLedger(throughSeq: number, limit: number): Promise<boolean>;
  /** Where the stored ledger begins, and its size. */
  ledgerExtent(): LedgerExtent;
  /** All entries, for `verify`. */
  ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }>;
  /** The records of a table, and about their size. */
  tableSize(table: TableName): TableSize;
  /** Absent for stores that are not on disk. */
  size?(): StoreSize;
  close(): Promise<void>;
}
