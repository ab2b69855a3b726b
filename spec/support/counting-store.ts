import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { KeptEvent } from '../../src/store/records/kept-events.ts';
import type { TableName, Tables } from '../../src/store/records/records.ts';
import type { KeyQuery, KeySlice, LedgerQuery, LedgerSlice } from '../../src/store/ledger/ledger-query.ts';
import type { Range } from '../../src/store/commit/transactional-store.ts';
import { DelegatingStore } from './delegating-store.ts';
import { eventually } from './eventually.ts';

/** A store that counts the records that are read. */
export class CountingStore extends DelegatingStore {
  /** Records that were looked up or passed by a cursor, skipped ones included. */
  reads = 0;
  /** Most records that were read in one tick of the event loop. */
  maxReadsPerTick = 0;
  #readsThisTick = 0;

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

  override get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    this.#count(1);
    return super.get(table, key);
  }

  override keptOfEvent(key: string): KeptEvent | undefined {
    this.#count(1);
    return super.keptOfEvent(key);
  }

  override range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    return this.#counted(super.range(table, range), range.offset);
  }

  override keys(table: TableName, range: Range): Iterable<string> {
    return this.#counted(super.keys(table, range), range.offset);
  }

  override eventKeysOfCheck(namespace: string, check: string, afterEntity?: string): Iterable<string> {
    return this.#counted(super.eventKeysOfCheck(namespace, check, afterEntity));
  }

  override ledgerSlice(query: LedgerQuery): LedgerSlice {
    const { entries, afterSeq } = super.ledgerSlice(query);
    return { entries: [...this.#counted(entries)], afterSeq };
  }

  override ledgerSliceOfKey(query: KeyQuery): KeySlice {
    const { entries, beforeSeq } = super.ledgerSliceOfKey(query);
    return { entries: [...this.#counted(entries)], beforeSeq };
  }

  override lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    this.#count(1);
    return super.lastLedgerEntry(actor, key);
  }

  override ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    return this.#counted(super.ledgerEntries());
  }
}
