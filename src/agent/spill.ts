import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { WaitingEvent } from './event-list.ts';

/** How long an event waits in memory for its confirmation before it is written to disk. */
export const HELD_IN_MEMORY_MS = 250;
/** Limits for events in memory. Beyond them events are written at once. */
const MAX_HELD_EVENTS = 1_000;
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Delay before retrying a failed write; it doubles after each failure. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A new block of numbers is reserved when this many are left. */
const SPARE_NUMBERS = 500_000;

interface StoredEvent {
  readonly n: number;
  readonly check: string;
  readonly payload: string;
}

/** Stores events across restarts. `write` is atomic and must not be called before the previous write has finished. */
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

/** Writes events to the store that are not confirmed in time, and removes them once they are. */
export class Spill {
  readonly #store: QueueStore;
  readonly #ports: SpillPorts;
  /** Events that are in memory only. */
  readonly #held = new Set<WaitingEvent>();
  #heldBytes = 0;
  /** Numbers to remove from the store. */
  #removed = new Set<number>();
  #lastNumber = 0;
  #isConnected = false;
  #writeRequested = false;
  #cancelScheduled: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #retryMs = MIN_RETRY_MS;
  #cancelRetry: (() => void) | undefined;

  constructor(store: QueueStore, ports: SpillPorts) {
    this.#store = store;
    this.#ports = ports;
  }

  add(event: WaitingEvent): void {
    this.#lastNumber = event.n;
    this.#hold(event);
    this.#schedule();
  }

  /** Without a connection, events are written at once. */
  set isConnected(isConnected: boolean) {
    this.#isConnected = isConnected;
    this.#schedule();
  }

  /** Releases a confirmed or dropped event. The next `sync` removes it from the store. */
  release(event: WaitingEvent): void {
    if (this.#held.delete(event)) this.#heldBytes -= event.bytes;
    else this.#removed.add(event.n);
    event.place = 'gone';
  }

  /** Removes a damaged record. */
  remove(n: number): void {
    this.#removed.add(n);
  }

  /** Brings the store up to date, one write at a time. */
  sync(): void {
    if (this.#writing !== undefined || this.#cancelRetry !== undefined) return;
    const puts = this.#writeRequested ? [...this.#held] : [];
    const reserves = this.#lastNumber > this.#store.reservedUpTo - SPARE_NUMBERS;
    this.#writeRequested = false;
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

  /** Tries once to write the events in memory, then closes the store. */
  async close(): Promise<void> {
    this.#isConnected = false;
    this.#writeRequested = true;
    this.#cancelScheduled?.();
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

  #schedule(): void {
    const isFull = this.#held.size > MAX_HELD_EVENTS || this.#heldBytes > MAX_HELD_BYTES;
    const [oldest] = this.#held;
    if (oldest === undefined) return;
    const leftMs = oldest.acceptedAtMs + HELD_IN_MEMORY_MS - this.#ports.clock.monotonicMs();
    if (isFull || !this.#isConnected || leftMs <= 0) {
      this.#writeRequested = true;
      this.sync();
    } else {
      this.#cancelScheduled ??= this.#ports.clock.after(leftMs, () => {
        this.#cancelScheduled = undefined;
        this.#schedule();
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
    if (puts.length > 0) this.#ports.log.debug({ events: puts.length }, 'wrote queued events to disk');
    this.sync();
  }

  #failed(puts: readonly WaitingEvent[], removed: ReadonlySet<number>, error: unknown): void {
    this.#writing = undefined;
    for (const n of removed) this.#removed.add(n);
    for (const event of puts) if (event.place === 'being written') this.#hold(event);
    this.#ports.log.error(
      { err: error, events: this.#held.size },
      'failed to write the event queue, events are in memory only',
    );
    this.#writeRequested = true;
    this.#cancelRetry = this.#ports.clock.after(this.#retryMs, () => {
      this.#cancelRetry = undefined;
      this.sync();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }
}
