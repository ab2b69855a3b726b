import type { EventSize } from '../../src/store/records/event-sizes.ts';
import type { LedgerEntry, LedgerHead } from '../../src/store/ledger/ledger.ts';
import type { KeptEvent } from '../../src/store/records/kept-events.ts';
import type { TableName, Tables } from '../../src/store/records/records.ts';
import type { KeyQuery, KeySlice, LedgerQuery, LedgerSlice } from '../../src/store/ledger/ledger-query.ts';
import type { LedgerExtent } from '../../src/store/ledger/ledger-cut.ts';
import type {
  Range,
  StoreSize,
  TableSize,
  TransactionalStore,
  WriteSet,
} from '../../src/store/commit/transactional-store.ts';

/** A store that passes every call to another one. Test doubles override the methods that they change. */
export class DelegatingStore implements TransactionalStore {
  protected readonly store: TransactionalStore;

  constructor(store: TransactionalStore) {
    this.store = store;
  }

  write(set: WriteSet): Promise<void> {
    return this.store.write(set);
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.store.get(table, key);
  }

  keptOfEvent(key: string): KeptEvent | undefined {
    return this.store.keptOfEvent === undefined ? this.store.get('events', key) : this.store.keptOfEvent(key);
  }

  range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    return this.store.range(table, range);
  }

  keys(table: TableName, range: Range): Iterable<string> {
    return this.store.keys(table, range);
  }

  eventKeysOfCheck(namespace: string, check: string, afterEntity?: string): Iterable<string> {
    return this.store.eventKeysOfCheck(namespace, check, afterEntity);
  }

  eventSizes(prefix: string): Iterable<EventSize> {
    return this.store.eventSizes(prefix);
  }

  tableSize(table: TableName): TableSize {
    return this.store.tableSize(table);
  }

  ledgerHead(): LedgerHead {
    return this.store.ledgerHead();
  }

  ledgerSlice(query: LedgerQuery): LedgerSlice {
    return this.store.ledgerSlice(query);
  }

  ledgerSliceOfKey(query: KeyQuery): KeySlice {
    return this.store.ledgerSliceOfKey(query);
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    return this.store.lastLedgerEntry(actor, key);
  }

  cutLedger(throughSeq: number, limit: number): Promise<boolean> {
    return this.store.cutLedger(throughSeq, limit);
  }

  ledgerExtent(): LedgerExtent {
    return this.store.ledgerExtent();
  }

  ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    return this.store.ledgerEntries();
  }

  /** @throws if the store below has no size */
  size(): StoreSize {
    if (this.store.size === undefined) throw new Error('the store has no size');
    return this.store.size();
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
