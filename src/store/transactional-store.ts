import type { QueueStats } from '../ports/queue-stats.ts';
import type { TablePuts, TableReader } from './decision.ts';
import type { LedgerEntry, LedgerHead } from './ledger.ts';
import type { TableName, Tables } from './records.ts';

/** What one transaction writes. */
export interface WriteSet {
  puts: TablePuts;
  ledger: LedgerEntry[];
}

export interface Range {
  /** Keys at or after this one. */
  from: string;
  /** Keys before this one. */
  to: string;
  /** So many are passed over first, at a fraction of what reading them costs. */
  offset?: number;
  limit?: number;
}

export interface LedgerQuery {
  actor?: string;
  key?: string;
  sinceMs?: number;
  untilMs?: number;
  /** Entries after this number. */
  afterSeq?: number;
  limit: number;
}

/** How large a store is. */
export interface StoreSize {
  /** On disk; it never shrinks. */
  bytes: number;
  /** Of them, those that hold something. */
  usedBytes: number;
  /** The others, which are used again. */
  freePages: number;
  /** Decoded resources that are kept in memory. */
  cachedResources: QueueStats;
}

/** The durable state: one writer, any number of readers, every write set whole or not at all. */
export interface TransactionalStore extends TableReader {
  /** Resolves when all of it would survive a power cut. @throws when nothing of it was kept */
  write(set: WriteSet): Promise<void>;
  /** In order of keys; a cursor, not a copy. */
  range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }>;
  /** The keys alone, in order. */
  keys(table: TableName, range: Range): Iterable<string>;
  /** Keys `<namespace>/<entity>/<check>` of the stored events of a check, in order. */
  eventKeysOfCheck(namespace: string, check: string): Iterable<string>;
  ledgerHead(): LedgerHead;
  /** In order of numbers. */
  ledger(query: LedgerQuery): LedgerEntry[];
  /** The newest entry of one key; costs one look-up. */
  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined;
  /** All entries, for `verify`. */
  ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }>;
  /** Absent where nothing is on disk. */
  size?(): StoreSize;
  close(): Promise<void>;
}
