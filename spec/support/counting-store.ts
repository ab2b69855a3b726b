import type { LedgerEntry, LedgerHead } from '../../src/store/ledger.ts';
import type { TableName, Tables } from '../../src/store/records.ts';
import type {
  LedgerQuery,
  Range,
  StoreSize,
  TransactionalStore,
  WriteSet,
} from '../../src/store/transactional-store.ts';
import { eventually } from './eventually.ts';

/** A store that counts the records that are read. */
export class CountingStore implements TransactionalStore {
  /** Records that were looked up or passed by a cursor, skipped ones included. */
  reads = 0;
  /** Most records that were read in one tick of the event loop. */
  maxReadsPerTick = 0;
  readonly #store: TransactionalStore;
  #readsThisTick = 0;

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /** Waits until no more records are read, and returns `reads`. */
  async settledReads(): Promise<number> {
    let before = -1;
    await eventually(
      () => [before, (before = this.reads)],
      ([earlier, now]) => earlier === now,
      { everyMs: 50 },
    );
    return this.reads;
  }

  #count(records: number): void {
    if (this.#readsThisTick === 0) {
      setImmediate(() => {
        this.#readsThisTick = 0;
      });
    }
    this.reads += records;
    this.#readsThisTick += records;
    this.maxReadsPerTick = Math.max(this.maxReadsPerTick, this.#readsThisTick);
  }

  *#counted<T>(passed: Iterable<T>, offset = 0): Generator<T, void> {
    this.#count(offset);
    for (const item of passed) {
      this.#count(1);
      yield item;
    }
  }

  write(set: WriteSet): Promise<void> {
    return this.#store.write(set);
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    this.#count(1);
    return this.#store.get(table, key);
  }

  range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    return this.#counted(this.#store.range(table, range), range.offset);
  }

  keys(table: TableName, range: Range): Iterable<string> {
    return this.#counted(this.#store.keys(table, range), range.offset);
  }

  eventKeysOfCheck(namespace: string, check: string): Iterable<string> {
    return this.#counted(this.#store.eventKeysOfCheck(namespace, check));
  }

  ledgerHead(): LedgerHead {
    return this.#store.ledgerHead();
  }

  ledger(query: LedgerQuery): LedgerEntry[] {
    return [...this.#counted(this.#store.ledger(query))];
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    this.#count(1);
    return this.#store.lastLedgerEntry(actor, key);
  }

  ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    return this.#counted(this.#store.ledgerEntries());
  }

  size(): StoreSize {
    if (this.#store.size === undefined) throw new Error('the store has no size');
    return this.#store.size();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
