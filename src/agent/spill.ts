import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { WaitingEvent } from './event-line.ts';

/** How long an event waits for its acknowledgement before it goes to disk. */
export const HELD_IN_MEMORY_MS = 250;
/** What waits for it in memory; more goes to disk at once. */
const MAX_HELD_EVENTS = 1_000;
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Before a failed write is tried again; doubled after each failure. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Numbers left when the next block is taken. */
const SPARE_NUMBERS = 500_000;

interface StoredEvent {
  readonly n: number;
  readonly check: string;
  readonly payload: string;
}

/** Where events outlive this process. `write` is all or nothing, and is not called before the last one is done. */
export interface QueueStore {
  readonly id: string;
  readonly usedUpTo: number;
  readonly reservedUpTo: number;
  index(): Iterable<{ n: number; entry: { check: string; bytes: number } | Error }>;
  /** @throws when the record is damaged */
  read(n: number): string;
  write(changes: { puts: readonly StoredEvent[]; removed: Iterable<number>; reserves: boolean }): Promise<void>;
  close(): Promise<void>;
}

interface SpillPorts {
  clock: Clock;
  log: Log;
}

/** Writes to the store what is not confirmed in time, and removes it from there when it is. */
export class Spill {
  readonly #store: QueueStore;
  readonly #ports: SpillPorts;
  /** In memory and nowhere else. */
  readonly #held = new Set<WaitingEvent>();
  #heldBytes = 0;
  /** To be removed from the store. */
  #removed = new Set<number>();
  #lastNumber = 0;
  #isConnected = false;
  #isDue = false;
  #cancelPlan: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #retryMs = MIN_RETRY_MS;
  #cancelRetry: (() => void) | undefined;

  constructor(store: QueueStore, ports: SpillPorts) {
    this.#store = store;
    this.#ports = ports;
  }

  take(event: WaitingEvent): void {
    this.#lastNumber = event.n;
    this.#hold(event);
    this.#plan();
  }

  /** Without a connection no confirmation is waited for. */
  set isConnected(isConnected: boolean) {
    this.#isConnected = isConnected;
    this.#plan();
  }

  /** It waits no more: confirmed, or given up. Written down by the next `sync`. */
  forget(event: WaitingEvent): void {
    if (this.#held.delete(event)) this.#heldBytes -= event.bytes;
    else this.#removed.add(event.n);
    event.place = 'gone';
  }

  /** The record is of no use. */
  remove(n: number): void {
    this.#removed.add(n);
  }

  /** Brings the store up to date, one write after the other. */
  sync(): void {
    if (this.#writing !== undefined || this.#cancelRetry !== undefined) return;
    const puts = this.#isDue ? [...this.#held] : [];
    const reserves = this.#lastNumber > this.#store.reservedUpTo - SPARE_NUMBERS;
    this.#isDue = false;
    if (puts.length === 0 && this.#removed.size === 0 && !reserves) return;
    const removed = this.#removed;
    this.#removed = new Set();
    const records = puts.map(({ n, check, payload }) => ({ n, check, payload: payload ?? '' }));
    for (const event of puts) {
      event.place = 'being written';
      this.#held.delete(event);
      this.#heldBytes -= event.bytes;
    }
    this.#writing = this.#store.write({ puts: records, removed, reserves }).then(
      () => this.#written(puts),
      (error: unknown) => this.#failed(puts, removed, error),
    );
  }

  /** Writes what is in memory, once, and gives the store back. */
  async close(): Promise<void> {
    this.#isConnected = false;
    this.#isDue = true;
    this.#cancelPlan?.();
    await this.#writing;
    this.#endRetry();
    this.sync();
    await this.#writing;
    this.#endRetry();
    await this.#store.close();
  }

  #endRetry(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  #hold(event: WaitingEvent): void {
    event.place = 'memory';
    this.#held.add(event);
    this.#heldBytes += event.bytes;
  }

  #plan(): void {
    const isFull = this.#held.size > MAX_HELD_EVENTS || this.#heldBytes > MAX_HELD_BYTES;
    const [oldest] = this.#held;
    if (oldest === undefined) return;
    const leftMs = oldest.acceptedAtMs + HELD_IN_MEMORY_MS - this.#ports.clock.monotonicMs();
    if (isFull || !this.#isConnected || leftMs <= 0) {
      this.#isDue = true;
      this.sync();
    } else {
      this.#cancelPlan ??= this.#ports.clock.after(leftMs, () => {
        this.#cancelPlan = undefined;
        this.#plan();
      });
    }
  }

  #written(puts: readonly WaitingEvent[]): void {
    this.#writing = undefined;
    this.#retryMs = MIN_RETRY_MS;
    for (const event of puts) {
      if (event.place !== 'being written') continue;
      event.place = 'disk';
      event.payload = undefined;
    }
    if (puts.length > 0) this.#ports.log.debug({ events: puts.length }, 'events kept on disk');
    this.sync();
  }

  #failed(puts: readonly WaitingEvent[], removed: ReadonlySet<number>, error: unknown): void {
    this.#writing = undefined;
    for (const n of removed) this.#removed.add(n);
    for (const event of puts) if (event.place === 'being written') this.#hold(event);
    this.#ports.log.error(
      { err: error, events: this.#held.size },
      'event queue cannot be written, events are only in memory',
    );
    this.#isDue = true;
    this.#cancelRetry = this.#ports.clock.after(this.#retryMs, () => {
      this.#cancelRetry = undefined;
      this.sync();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }
}
