import { CODECS } from '../../src/store/codecs.ts';
import { eventAddress } from '../../src/store/keyspace.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from '../../src/store/ledger.ts';
import { TABLE_NAMES, type TableName, type Tables } from '../../src/store/records.ts';
import type { LedgerQuery, Range, TransactionalStore, WriteSet } from '../../src/store/transactional-store.ts';

/** What a write does, decided when it takes off. */
export interface WritePlan {
  /** Simulated time until it is over; 0 = at once. */
  delayMs: number;
  fails: boolean;
}

/** Whoever plans the writes of a store and looks at them. */
export interface WriteObserver {
  plan(): WritePlan;
  takesOff(set: WriteSet): void;
  /** It has become durable, or nothing of it was kept; called before the writer hears of it. */
  ended(durable: boolean): void;
}

interface Row {
  table: TableName;
  key: string;
  bytes: Buffer | null;
}

/** What survives a crash: rows as bytes, and the ledger. */
export class SimulatedDisk {
  readonly tables = new Map<TableName, Map<string, Buffer>>(TABLE_NAMES.map((table) => [table, new Map()]));
  readonly ledger: string[] = [];
  /** Configuration is read with every event and seldom changes. */
  readonly known = new WeakMap<Buffer, object>();
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

/** The store of one process, on a disk that outlives it. What its writes do is planned by the observer. */
export class SimulatedStore implements TransactionalStore {
  readonly #disk: SimulatedDisk;
  readonly #after: (delayMs: number, fire: () => void) => void;
  readonly #observer: WriteObserver;
  #isWriting = false;
  /** Keeps what is in flight; undefined while nothing is that will succeed. */
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

  /** The process is gone. A write in flight reached the disk or did not; nobody hears of it. True if it was kept. */
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
    this.#observer.takesOff(set);
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
      // The oracle must not hear of it before the writer can: alarms of one moment fire in a row.
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
    const resource = this.#disk.known.get(bytes) ?? CODECS.resources.decode(bytes, key);
    this.#disk.known.set(bytes, resource);
    return resource;
  }

  *range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    for (const key of this.keys(table, range)) {
      const value = this.get(table, key);
      if (value !== undefined) yield { key, value };
    }
  }

  keys(table: TableName, { from, to, limit }: Range): Iterable<string> {
    const keys = [...this.#disk.rows(table).keys()].filter((key) => key >= from && key < to).sort();
    return keys.slice(0, limit);
  }

  eventKeysOfCheck(namespace: string, check: string): Iterable<string> {
    return [...this.#disk.rows('events').keys()].sort().filter((key) => {
      const address = eventAddress(key);
      return address.namespace === namespace && address.check === check;
    });
  }

  ledgerHead(): LedgerHead {
    return this.#disk.head;
  }

  ledger({ actor, key, sinceMs = 0, untilMs = Infinity, afterSeq = 0, limit }: LedgerQuery): LedgerEntry[] {
    return this.#disk.ledger
      .map((text) => JSON.parse(text) as LedgerEntry)
      .filter(({ seq, atMs }) => seq > afterSeq && atMs >= sinceMs && atMs <= untilMs)
      .filter((entry) => (actor === undefined || entry.actor === actor) && (key === undefined || entry.key === key))
      .slice(0, limit);
  }

  lastLedgerEntry(actor: string, key: string): LedgerEntry | undefined {
    return this.ledger({ actor, key, limit: Infinity }).at(-1);
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
