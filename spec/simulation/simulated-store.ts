import type { EventSize } from '../../src/store/records/event-sizes.ts';
import { CODECS } from '../../src/store/records/codecs.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from '../../src/store/ledger/ledger.ts';
import { TABLE_NAMES, type TableName, type Tables } from '../../src/store/records/records.ts';
import {
  type KeyQuery,
  type KeySlice,
  type LedgerQuery,
  type LedgerSlice,
  matches,
} from '../../src/store/ledger/ledger-query.ts';
import type { LedgerExtent } from '../../src/store/ledger/ledger-cut.ts';
import type { Range, TableSize, TransactionalStore, WriteSet } from '../../src/store/commit/transactional-store.ts';
import { keysOfCheck } from '../support/keys-of-check.ts';
import { sliceOfKey } from '../support/slice-of-key.ts';

/** How one write behaves, decided when it starts. */
export interface WritePlan {
  /** Simulated time until the write ends; 0 = at once. */
  delayMs: number;
  fails: boolean;
}

/** Plans the writes of a store and observes them. */
export interface WriteObserver {
  plan(): WritePlan;
  started(set: WriteSet): void;
  /** Called before the promise of the write settles. If `durable` is false, nothing was stored. */
  ended(durable: boolean): void;
}

interface Row {
  table: TableName;
  key: string;
  bytes: Buffer | null;
}

/** The state that survives a crash: records as bytes, and the ledger. */
export class SimulatedDisk {
  readonly tables = new Map<TableName, Map<string, Buffer>>(TABLE_NAMES.map((table) => [table, new Map()]));
  readonly ledger: string[] = [];
  /** Decoded resources: they are read with every event and change seldom. */
  readonly decoded = new WeakMap<Buffer, object>();
  head = GENESIS;

  rows(table: TableName): Map<string, Buffer> {
    const rows = this.tables.get(table);
    if (rows === undefined) throw new Error(`there is no table ${table}`);
    return rows;
  }

  keep(rows: readonly Row[], ledger: readonly string[], head: LedgerHead | undefined): void {
    for (const { table, key, bytes } of rows) {
      if (bytes === null) this.rows(table).delete(key);
      else this.rows(table).set(key, bytes);
    }
    this.ledger.push(...ledger);
    this.head = head ?? this.head;
  }
}

/** The store of one process, on a disk that outlives it. The observer plans how each write behaves. */
export class SimulatedStore implements TransactionalStore {
  readonly #disk: SimulatedDisk;
  readonly #after: (delayMs: number, fire: () => void) => void;
  readonly #observer: WriteObserver;
  #isWriting = false;
  /** Stores the write in flight; undefined while there is none that will succeed. */
  #keepInFlight: (() => void) | undefined;
  #crashed = false;

  constructor(disk: SimulatedDisk, after: (delayMs: number, fire: () => void) => void, observer: WriteObserver) {
    this.#disk = disk;
    this.#after = after;
    this.#observer = observer;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Ends the process. A write in flight is stored if `keepsInFlight`, and its promise never settles. Returns whether one was stored. */
  crash(keepsInFlight: boolean): boolean {
    this.#crashed = true;
    if (!keepsInFlight || this.#keepInFlight === undefined) return false;
    this.#keepInFlight();
    return true;
  }

  write(set: WriteSet): Promise<void> {
    if (this.#crashed) return new Promise<never>(() => undefined);
    const rows = TABLE_NAMES.flatMap((table) => rowsOf(table, set.puts[table]));
    const ledger = set.ledger.map((entry) => JSON.stringify(entry));
    const last = set.ledger.at(-1);
    const head = last && { seq: last.seq, hash: last.hash };
    const { delayMs, fails } = this.#observer.plan();
    this.#observer.started(set);
    const keep = (): void => {
      this.#disk.keep(rows, ledger, head);
    };
    this.#isWriting = true;
    this.#keepInFlight = fails ? undefined : keep;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        if (this.#crashed) return;
        this.#isWriting = false;
        this.#keepInFlight = undefined;
        if (!fails) keep();
        this.#observer.ended(!fails);
        if (fails) reject(new Error('no space left on device'));
        else resolve();
      };
      // Alarms of one moment fire one after another: without this, the oracle would follow the write before the backend can.
      const endSoon = (): void => {
        queueMicrotask(end);
      };
      if (delayMs === 0) endSoon();
      else this.#after(delayMs, endSoon);
    });
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const bytes = this.#disk.rows(table).get(key);
    if (bytes === undefined) return undefined;
    return table === 'resources' ? (this.#resource(key, bytes) as Tables[T]) : CODECS[table].decode(bytes, key);
  }

  #resource(key: string, bytes: Buffer): object {
    const resource = this.#disk.decoded.get(bytes) ?? CODECS.resources.decode(bytes, key);
    this.#disk.decoded.set(bytes, resource);
    return resource;
  }

  *range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    for (const key of this.keys(table, range)) {
      const value = this.get(table, key);
      if (value !== undefined) yield { key, value };
    }
  }

  keys(table: TableName, { from, to, limit, isReversed = false }: Range): Iterable<string> {
    const keys = [...this.#disk.rows(table).keys()].filter((key) => key >= from && key < to).sort();
    if (isReversed) keys.reverse();
    return keys.slice(0, limit);
  }

  *eventSizes(prefix: string): Iterable<EventSize> {
    for (const [key, { length }] of this.#disk.rows('events')) if (key.startsWith(prefix)) yield { key, bytes: length };
  }

  tableSize(table: TableName): TableSize {
    const rows = [...this.#disk.rows(table).values()];
    return { entries: rows.length, bytes: rows.reduce((bytes, { length }) => bytes + length, 0) };
  }

  eventKeysOfCheck(namespace: string, check: string, afterEntity = ''): Iterable<string> {
    return keysOfCheck(this.#disk.rows('events').keys(), { namespace, check, afterEntity });
  }

  ledgerHead(): LedgerHead {
    return this.#disk.head;
  }

  ledgerSlice(query: LedgerQuery): LedgerSlice {
    const { afterSeq = 0, limit } = query;
    const all = this.#disk.ledger.slice(afterSeq).map((text) => JSON.parse(text) as LedgerEntry);
    const found = all.filter((entry) => matches(entry, query));
    const entries = found.slice(0, limit);
    return { entries, afterSeq: found.length > limit ? entries.at(-1)?.seq : undefined };
  }

  ledgerSliceOfKey(query: KeyQuery): KeySlice {
    return sliceOfKey(
      this.#disk.ledger.map((text) => JSON.parse(text) as LedgerEntry),
      query,
    );
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    return this.ledgerSlice({ actor, key, limit: Infinity }).entries.at(-1);
  }

  /** No simulation is as long as the retention of the ledger. */
  cutLedger(): Promise<boolean> {
    return Promise.reject(new Error('the simulated disk keeps the whole ledger'));
  }

  ledgerExtent(): LedgerExtent {
    return { firstSeq: 1, entries: this.#disk.ledger.length, bytes: 0 };
  }

  *ledgerEntries(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const [index, text] of this.#disk.ledger.entries())
      yield { seq: index + 1, entry: JSON.parse(text) as LedgerEntry };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function rowsOf<T extends TableName>(table: T, changes: ReadonlyMap<string, Tables[T] | null>): Row[] {
  const { encode } = CODECS[table];
  return [...changes].map(([key, value]) => ({ table, key, bytes: value === null ? null : encode(value) }));
}
