import type { QueueStats } from '../ports/queue-stats.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import { CommitCounts } from './commit-counts.ts';
import { type Announcement, type Decision, emptyPuts, type KeyedTableReader, type Source } from './decision.ts';
import { afterPrefix, eventAddress } from './keyspace.ts';
import { chain, type LedgerDraft, type LedgerHead } from './ledger.ts';
import { TABLE_NAMES, type TableName, type Tables } from './records.ts';
import { Tally } from './tally.ts';
import type { TransactionalStore, WriteSet } from './transactional-store.ts';

/** Decisions that wait for one transaction. */
class Batch {
  readonly puts = emptyPuts();
  readonly ledger: LedgerDraft[] = [];
  readonly announcements: Announcement[] = [];
  /** The sources of inputs in this batch, each with the highest number to acknowledge. */
  readonly sources = new Map<Source, number | undefined>();
  readonly tally = new Tally();
  readonly durable: Promise<void>;
  decisions = 0;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.durable = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Not every caller waits for this promise; sources are notified through `lost`.
    this.durable.catch(() => undefined);
  }

  /** Returns the value that this batch writes: `null` = deleted, undefined = unchanged. */
  lookUp<T extends TableName>(table: T, key: string): Tables[T] | null | undefined {
    return this.puts[table].get(key);
  }

  /** Applies what this batch does to a set of keys that begin with `prefix`. */
  overlayKeys(table: TableName, prefix: string, keys: Set<string>): void {
    for (const [key, value] of this.puts[table]) {
      if (!key.startsWith(prefix)) continue;
      if (value === null) keys.delete(key);
      else keys.add(key);
    }
  }

  join(decision: Decision): void {
    this.decisions += 1;
    for (const { table, key, value } of decision.puts) (this.puts[table] as Map<string, unknown>).set(key, value);
    this.ledger.push(...decision.ledger);
    this.announcements.push(...decision.announcements);
    this.tally.add(decision.tally);
    const { source, acknowledge } = decision;
    if (source === undefined) return;
    const highest = this.sources.get(source);
    this.sources.set(source, acknowledge === undefined ? highest : Math.max(acknowledge, highest ?? 0));
  }

  settle(): void {
    for (const [source, n] of this.sources) if (n !== undefined) source.acknowledged(n);
    this.#resolve();
  }

  lose(error: Error): void {
    for (const source of this.sources.keys()) source.inputsLost(error);
    this.#reject(error);
  }
}

/** The keys of decisions that were lost, by table. */
export type LostKeys = Record<TableName, Set<string>>;

export interface CommitterListener {
  /** The batch is durable. Its announcements are in the order of their decisions. */
  committed(announcements: readonly Announcement[]): void;
  /** Both batches are lost. State that depends on them must be dropped and read again. */
  lost(keys: LostKeys, error: Error): void;
  /** Writes work again. */
  recovered(): void;
}

/** The key of `meta` with the time of the last commit, Unix ms. */
export const ALIVE_KEY = 'alive';
/** The interval of probes while the store cannot be written. */
const PROBE_INTERVAL_MS = 1_000;
/** Decisions that may wait for a transaction; above it sources must pause. */
export const MAX_OPEN_DECISIONS = 20_000;

export interface CommitterPorts {
  store: TransactionalStore;
  listener: CommitterListener;
  /** Returns Unix ms. Each batch stores the time, so that a later start knows when this process was last alive. */
  nowMs(): number;
  /** Calls `fire` once after `delayMs`. */
  after(delayMs: number, fire: () => void): void;
}

/**
 * Joins decisions into transactions. At most one batch is in flight while the open one collects decisions. A read looks into the open batch,
 * then the one in flight, then the store. A failed transaction loses both batches, because the open one depends on the lost one.
 */
export class Committer implements KeyedTableReader {
  readonly counts = new CommitCounts();
  readonly #store: TransactionalStore;
  readonly #listener: CommitterListener;
  readonly #after: CommitterPorts['after'];
  readonly #nowMs: CommitterPorts['nowMs'];
  #open = new Batch();
  #inFlight: Batch | undefined;
  #running = false;
  #failing = false;
  #head: LedgerHead;
  #idle: Promise<void> = Promise.resolve();

  constructor({ store, listener, nowMs, after }: CommitterPorts) {
    this.#store = store;
    this.#listener = listener;
    this.#after = after;
    this.#nowMs = nowMs;
    this.#head = store.ledgerHead();
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const open = this.#open.lookUp(table, key);
    if (open !== undefined) return open ?? undefined;
    const inFlight = this.#inFlight?.lookUp(table, key);
    if (inFlight !== undefined) return inFlight ?? undefined;
    return this.#store.get(table, key);
  }

  keys(table: TableName, prefix: string): Set<string> {
    const keys = new Set(this.#store.keys(table, { from: prefix, to: afterPrefix(prefix) }));
    this.#inFlight?.overlayKeys(table, prefix, keys);
    this.#open.overlayKeys(table, prefix, keys);
    return keys;
  }

  /** Returns the keys of the events of a check, including changes that are not durable yet. */
  eventKeysOfCheck(namespace: string, check: string): Set<string> {
    const keys = new Set(this.#store.eventKeysOfCheck(namespace, check));
    for (const batch of [this.#inFlight, this.#open]) {
      for (const [key, value] of batch?.puts.events ?? []) {
        const address = eventAddress(key);
        if (address.namespace !== namespace || address.check !== check) continue;
        if (value === null) keys.delete(key);
        else keys.add(key);
      }
    }
    return keys;
  }

  /** The last durable entry of the ledger. */
  get head(): LedgerHead {
    return this.#head;
  }

  /** The number that the last decided ledger entry will have when it is durable. */
  get decidedSeq(): number {
    return this.#head.seq + (this.#inFlight?.ledger.length ?? 0) + this.#open.ledger.length;
  }

  get isFailing(): boolean {
    return this.#failing;
  }

  /** The decisions that wait for a transaction. */
  get openDecisions(): QueueStats {
    return { used: this.#open.decisions, limit: MAX_OPEN_DECISIONS };
  }

  /** Whether sources must pause until the next batch is committed. */
  get isFull(): boolean {
    return this.#open.decisions >= MAX_OPEN_DECISIONS;
  }

  /** Resolves when the decision is durable. @throws StoreUnavailable at once while the store cannot be written */
  commit(decision: Decision): Promise<void> {
    this.assertWritable();
    // A decision without changes may have read state that is not durable yet, and is only valid when that state is.
    if (decision.isEmpty) {
      this.counts.stored.add(decision.tally);
      return this.whenDurable();
    }
    const batch = this.#open;
    batch.join(decision);
    if (!this.#running) {
      this.#running = true;
      this.#idle = this.#run();
    }
    return batch.durable;
  }

  /** Resolves when everything decided so far is durable; rejects when it was lost. */
  whenDurable(): Promise<void> {
    const newest = this.#open.decisions > 0 ? this.#open : this.#inFlight;
    return newest?.durable ?? Promise.resolve();
  }

  /** @throws StoreUnavailable while the store cannot be written */
  assertWritable(): void {
    if (this.#failing) throw new StoreUnavailable('the store cannot be written now');
  }

  /** Resolves when nothing is open or in flight. */
  async drained(): Promise<void> {
    await this.#idle;
  }

  async #run(): Promise<void> {
    try {
      // Waits for one tick of the event loop, so that inputs that arrive together are committed together.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#open.decisions > 0 && !this.#failing) await this.#flush();
    } finally {
      this.#running = false;
    }
  }

  async #flush(): Promise<void> {
    const batch = this.#open;
    this.#inFlight = batch;
    this.#open = new Batch();
    const startedMs = this.#nowMs();
    batch.puts.meta.set(ALIVE_KEY, startedMs);
    const ledger = chain(batch.ledger, this.#head);
    try {
      await this.#store.write({ puts: batch.puts, ledger });
    } catch (error) {
      this.#fail(batch, error);
      return;
    }
    this.#inFlight = undefined;
    this.#count(batch, this.#nowMs() - startedMs);
    const last = ledger.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    batch.settle();
    this.#listener.committed(batch.announcements);
  }

  #count({ decisions, tally }: Batch, durationMs: number): void {
    this.counts.commits += 1;
    this.counts.decisions += decisions;
    this.counts.durationMs += durationMs;
    this.counts.stored.add(tally);
  }

  #fail(inFlight: Batch, cause: unknown): void {
    const error = new StoreUnavailable('the store could not be written', { cause });
    const open = this.#open;
    this.#failing = true;
    this.counts.failures += 1;
    for (const { tally } of [inFlight, open]) this.counts.lost.add(tally);
    this.#inFlight = undefined;
    this.#open = new Batch();
    const keys = Object.fromEntries(
      TABLE_NAMES.map((table) => [table, new Set([...inFlight.puts[table].keys(), ...open.puts[table].keys()])]),
    ) as LostKeys;
    this.#listener.lost(keys, error);
    inFlight.lose(error);
    open.lose(error);
    this.#after(PROBE_INTERVAL_MS, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const puts = emptyPuts();
    puts.meta.set(ALIVE_KEY, this.#nowMs());
    const set: WriteSet = { puts, ledger: [] };
    try {
      await this.#store.write(set);
    } catch {
      // The probe failed as expected while the store cannot be written; the next one is scheduled.
      this.#after(PROBE_INTERVAL_MS, () => void this.#probe());
      return;
    }
    this.#failing = false;
    this.#listener.recovered();
  }
}
