import type { QueueStats } from '../../ports/queue-stats.ts';
import { StoreUnavailable } from '../../resources/errors.ts';
import { CommitCounts } from './commit-counts.ts';
import { Batch } from './batch.ts';
import { type Announcement, type Decision, emptyPuts, type KeyedTableReader } from './decision.ts';
import { eventBytes, type EventSize } from '../records/event-sizes.ts';
import { CachedMeta } from './cached-meta.ts';
import { StoredEvent } from '../records/encoded-event.ts';
import { KeptEvents, MAX_KEPT_EVENTS } from '../records/kept-events.ts';
import { afterPrefix, eventAddress } from '../encoding/keyspace.ts';
import { chain, type LedgerHead } from '../ledger/ledger.ts';
import { type EventRecord, TABLE_NAMES, type TableName, type Tables } from '../records/records.ts';
import { storedEvent, wholeEvent } from './stored-event.ts';
import type { TransactionalStore } from './transactional-store.ts';

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
const ANY_DELETION = { from: '', to: '~', limit: 1 };
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
 * then the one in flight, then the store; for an event, into the newest states first. A failed transaction loses both batches, because the
 * open one depends on the lost one.
 */
export class Committer implements KeyedTableReader {
  readonly counts = new CommitCounts();
  readonly #store: TransactionalStore;
  readonly #listener: CommitterListener;
  readonly #after: CommitterPorts['after'];
  readonly #nowMs: CommitterPorts['nowMs'];
  readonly #kept = new KeptEvents(MAX_KEPT_EVENTS);
  readonly #meta: CachedMeta;
  #open = new Batch();
  #inFlight: Batch | undefined;
  #running = false;
  #failing = false;
  #hasDeletions: boolean;
  #head: LedgerHead;
  #idle: Promise<void> = Promise.resolve();

  constructor({ store, listener, nowMs, after }: CommitterPorts) {
    this.#store = store;
    this.#meta = new CachedMeta(store);
    this.#listener = listener;
    this.#after = after;
    this.#nowMs = nowMs;
    this.#head = store.ledgerHead();
    this.#hasDeletions = this.#storesDeletions();
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const kept = table === 'events' ? this.#kept.get(key) : undefined;
    if (kept !== undefined) return new StoredEvent(kept, () => this.#wholeEvent(key)) as Tables[T];
    const waiting = this.#waiting(table, key);
    if (waiting !== undefined) return waiting ?? undefined;
    if (table === 'meta') return this.#meta.get(key) as Tables[T] | undefined;
    return table === 'events' ? (storedEvent(this.#store, key) as Tables[T] | undefined) : this.#store.get(table, key);
  }

  /** Returns what waits for its transaction: `null` = deleted, undefined = unchanged. */
  #waiting<T extends TableName>(table: T, key: string): Tables[T] | null | undefined {
    const open = this.#open.lookUp(table, key);
    return open === undefined ? this.#inFlight?.lookUp(table, key) : open;
  }

  /** @throws Error if there is none */
  #wholeEvent(key: string): EventRecord {
    const waiting = this.#waiting('events', key);
    return wholeEvent(waiting === undefined ? this.#store.get('events', key) : waiting, key);
  }

  /** The events whose state is in memory, so that the store is not read. */
  get keptEvents(): QueueStats {
    return this.#kept.used;
  }

  /** Forgets events that had no result since the last call. */
  forgetIdleEvents(): void {
    this.#kept.forgetIdle();
  }

  keys(table: TableName, prefix: string): Set<string> {
    const keys = new Set(this.#store.keys(table, { from: prefix, to: afterPrefix(prefix) }));
    this.#inFlight?.overlayKeys(table, prefix, keys);
    this.#open.overlayKeys(table, prefix, keys);
    return keys;
  }

  /** Whether the store has more than `limit` keys that begin with `prefix`, without changes that are not durable yet. */
  hasMoreThan(limit: number, table: TableName, prefix: string): boolean {
    const range = { from: prefix, to: afterPrefix(prefix), limit: limit + 1 };
    return [...this.#store.keys(table, range)].length > limit;
  }

  /** False while no deletion is pending; reads are faster then. */
  get hasDeletions(): boolean {
    return this.#hasDeletions;
  }

  #storesDeletions(): boolean {
    return [...this.#store.keys('deletions', ANY_DELETION)].length > 0;
  }

  /**
   * Returns the keys of the events of a check, including changes that are not durable yet. Undefined when there are more than
   * `limit`.
   */
  eventKeysOfCheck(namespace: string, check: string, limit: number): Set<string> | undefined {
    const keys = new Set<string>();
    for (const key of this.#store.eventKeysOfCheck(namespace, check)) {
      if (keys.size >= limit) return undefined;
      keys.add(key);
    }
    for (const batch of [this.#inFlight, this.#open]) {
      for (const [key, value] of batch?.puts.events ?? []) {
        const address = eventAddress(key);
        if (address.namespace !== namespace || address.check !== check) continue;
        if (value === null) keys.delete(key);
        else keys.add(key);
      }
    }
    return keys.size > limit ? undefined : keys;
  }

  /** The events whose keys begin with `prefix`, with about the bytes of each, including changes that are not durable yet. */
  eventSizes(prefix: string): Iterable<EventSize> {
    const sizes = new Map<string, EventSize>();
    for (const size of this.#store.eventSizes(prefix)) sizes.set(size.key, size);
    for (const batch of [this.#inFlight, this.#open]) {
      for (const [key, record] of batch?.puts.events ?? []) {
        if (!key.startsWith(prefix)) continue;
        if (record === null) sizes.delete(key);
        else sizes.set(key, { key, bytes: eventBytes(record) });
      }
    }
    return sizes.values();
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
      this.counts.store(decision.tally, decision.tally.outcomes);
      return this.whenDurable();
    }
    const batch = this.#open;
    batch.join(decision);
    for (const key of this.#kept.join(decision.puts)) batch.possiblyNewEvents.add(key);
    if (batch.puts.deletions.size > 0) this.#hasDeletions = true;
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
      await this.#store.write({ puts: batch.puts, ledger, isStoredEvent: (key) => !batch.possiblyNewEvents.has(key) });
    } catch (error) {
      this.#fail(batch, error);
      return;
    }
    this.#inFlight = undefined;
    this.#meta.committed(batch.puts.meta);
    if (batch.puts.deletions.size > 0)
      this.#hasDeletions = this.#open.puts.deletions.size > 0 || this.#storesDeletions();
    this.#count(batch, this.#nowMs() - startedMs);
    const last = ledger.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    batch.settle();
    this.#listener.committed(batch.announcements);
  }

  #count({ decisions, tally, outcomes }: Batch, durationMs: number): void {
    this.counts.commits += 1;
    this.counts.decisions += decisions;
    this.counts.durationMs += durationMs;
    this.counts.store(tally, outcomes);
  }

  #fail(inFlight: Batch, cause: unknown): void {
    const error = new StoreUnavailable('the store could not be written', { cause });
    const open = this.#open;
    this.#failing = true;
    this.#kept.clear();
    this.#meta.clear();
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
    try {
      await this.#store.write({ puts, ledger: [] });
    } catch {
      // The probe failed as expected while the store cannot be written; the next one is scheduled.
      this.#after(PROBE_INTERVAL_MS, () => void this.#probe());
      return;
    }
    this.#meta.committed(puts.meta);
    this.#failing = false;
    this.#hasDeletions = this.#storesDeletions();
    this.#listener.recovered();
  }
}
