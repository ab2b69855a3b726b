import { CorruptRecord } from '../../src/store/encoding/sealed.ts';
import type { EventSize } from '../../src/store/records/event-sizes.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from '../../src/store/ledger/ledger.ts';
import type { LedgerExtent } from '../../src/store/ledger/ledger-cut.ts';
import { TABLE_NAMES, type TableName, type Tables } from '../../src/store/records/records.ts';
import {
  type KeyQuery,
  type KeySlice,
  type LedgerQuery,
  type LedgerSlice,
  matches,
} from '../../src/store/ledger/ledger-query.ts';
import type { Range, TableSize, TransactionalStore, WriteSet } from '../../src/store/commit/transactional-store.ts';
import { keysOfCheck } from './keys-of-check.ts';
import { sliceOfKey } from './slice-of-key.ts';

/** A record as JSON text, so that later changes of the object do not affect it. */
interface Row {
  table: TableName;
  key: string;
  /** JSON; `null` deletes. */
  text: string | null;
}

/** A store in memory that keeps records as JSON texts. */
export class MemoryStore implements TransactionalStore {
  /** Awaited before a write stores anything. If it rejects, the write fails. */
  beforeWrite: () => Promise<void> = () => Promise.resolve();
  /** Number of completed writes. */
  writes = 0;
  /** Records that are damaged, as `<table>/<key>`. */
  readonly damaged = new Set<string>();
  readonly #tables = new Map(TABLE_NAMES.map((table) => [table, new Map<string, string>()]));
  readonly #ledger: string[] = [];
  #head = GENESIS;

  async write({ puts, ledger }: WriteSet): Promise<void> {
    const rows: Row[] = TABLE_NAMES.flatMap((table) =>
      [...puts[table]].map(([key, value]) => ({ table, key, text: value === null ? null : JSON.stringify(value) })),
    );
    const entries = ledger.map((entry) => JSON.stringify(entry));
    await this.beforeWrite();
    for (const { table, key, text } of rows) {
      if (text === null) this.#rows(table).delete(key);
      else this.#rows(table).set(key, text);
    }
    this.#ledger.push(...entries);
    this.writes += 1;
    const last = ledger.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
  }

  #rows(table: TableName): Map<string, string> {
    return this.#tables.get(table) ?? new Map<string, string>();
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    if (this.damaged.has(`${table}/${key}`)) throw new CorruptRecord(`${table} ${key}: checksum does not match`);
    const text = this.#rows(table).get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Tables[T]);
  }

  *range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    for (const key of this.keys(table, range)) {
      const value = this.get(table, key);
      if (value !== undefined) yield { key, value };
    }
  }

  keys(table: TableName, { from, to, offset = 0, limit = Infinity, isReversed = false }: Range): Iterable<string> {
    const keys = [...this.#rows(table).keys()].filter((key) => key >= from && key < to).sort();
    if (isReversed) keys.reverse();
    return keys.slice(offset, offset + limit);
  }

  eventKeysOfCheck(namespace: string, check: string, afterEntity = ''): Iterable<string> {
    return keysOfCheck(this.#rows('events').keys(), { namespace, check, afterEntity });
  }

  *eventSizes(prefix: string): Iterable<EventSize> {
    for (const [key, { length }] of this.#rows('events')) if (key.startsWith(prefix)) yield { key, bytes: length };
  }

  tableSize(table: TableName): TableSize {
    const texts = [...this.#rows(table).values()];
    return { entries: texts.length, bytes: texts.reduce((bytes, { length }) => bytes + length, 0) };
  }

  ledgerHead(): LedgerHead {
    return this.#head;
  }

  ledgerSlice(query: LedgerQuery): LedgerSlice {
    const { afterSeq = 0, limit } = query;
    const found = this.#entries().filter((entry) => entry.seq > afterSeq && matches(entry, query));
    const entries = found.slice(0, limit);
    return { entries, afterSeq: found.length > limit ? entries.at(-1)?.seq : undefined };
  }

  ledgerSliceOfKey(query: KeyQuery): KeySlice {
    return sliceOfKey(this.#entries(), query);
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    return this.#entries().findLast((entry) => entry.actor === actor && entry.key === key);
  }

  *ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const entry of this.#entries()) yield { seq: entry.seq, entry };
  }

  cutLedger(throughSeq: number): Promise<boolean> {
    this.#ledger.splice(0, this.#entries().filter(({ seq }) => seq <= throughSeq).length);
    return Promise.resolve(true);
  }

  ledgerExtent(): LedgerExtent {
    const bytes = this.#ledger.reduce((sum, { length }) => sum + length, 0);
    return { firstSeq: this.#head.seq - this.#ledger.length + 1, entries: this.#ledger.length, bytes };
  }

  #entries(): LedgerEntry[] {
    return this.#ledger.map((text) => JSON.parse(text) as LedgerEntry);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
