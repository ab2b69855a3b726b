import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { EventLine, type WaitingEvent } from './event-line.ts';
import { type QueueStore, Spill } from './spill.ts';

/** Beside the number of events, which is a setting. */
export const MAX_QUEUED_BYTES = 256 * 1024 * 1024;
/** Both without a store. */
export const MAX_EVENTS_IN_MEMORY = 1_000;
const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024;
/** While the queue is full each new event displaces one: so many of them make one line in the log. */
const DROPS_PER_LOG_LINE = 1_000;

interface QueuePorts {
  clock: Clock;
  log: Log;
}

export interface QueuedEvent {
  /** Given once, in the order of sending; never used again within the queue's id. */
  readonly n: number;
  /** JSON. */
  readonly payload: string;
}

/**
 * Events in order, from their making to their confirmation. On each new connection the unconfirmed ones are sent again, with
 * the same numbers, also by the next process.
 *
 * What is lost at `kill -9`, or when the machine fails: unconfirmed events that were accepted within the last two transactions
 * of the store (the one under way, and their own), and while connected HELD_IN_MEMORY_MS before these. Everything older is on
 * disk or confirmed. At a regular stop nothing is lost. Without a store, and for as long as it cannot be written, which is in
 * the log, all that is unconfirmed is lost with the process.
 *
 * At its bounds the oldest event of the same check makes room for a new one, or else the oldest; both are counted.
 */
export class EventQueue {
  readonly #line = new EventLine();
  readonly #store: QueueStore | undefined;
  readonly #ports: QueuePorts;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  /** None without a store. */
  readonly #spill: Spill | undefined;
  #lastNumber: number;
  #dropped = 0;

  constructor(store: QueueStore | undefined, maxEvents: number, ports: QueuePorts) {
    this.#store = store;
    this.#ports = ports;
    this.#maxEvents = store === undefined ? Math.min(maxEvents, MAX_EVENTS_IN_MEMORY) : maxEvents;
    this.#maxBytes = store === undefined ? MAX_BYTES_IN_MEMORY : MAX_QUEUED_BYTES;
    this.#lastNumber = store?.usedUpTo ?? 0;
    this.#spill = store === undefined ? undefined : new Spill(store, ports);
    if (store !== undefined) this.#takeUp(store);
  }

  get size(): number {
    return this.#line.size;
  }

  /** Events lost at a bound, or by damage, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** `payload` is JSON; events of one `check` displace each other first. */
  push(payload: string, check: string): void {
    const bytes = Buffer.byteLength(payload);
    this.#makeRoom(bytes, check);
    const acceptedAtMs = this.#ports.clock.monotonicMs();
    const event: WaitingEvent = { n: ++this.#lastNumber, check, bytes, acceptedAtMs, payload, place: 'memory' };
    this.#line.append(event);
    this.#spill?.take(event);
  }

  /** The next event to send on this connection. */
  next(): QueuedEvent | undefined {
    for (let event = this.#line.next; event !== undefined; event = this.#line.next) {
      if (this.#store !== undefined && event.n > this.#store.reservedUpTo) return undefined;
      const payload = event.payload ?? this.#read(event.n);
      if (payload !== undefined) {
        this.#line.noteSent();
        return { n: event.n, payload };
      }
      this.#drop(event);
      this.#spill?.sync();
    }
    return undefined;
  }

  /** Everything up to `n` has arrived; what was never sent cannot have. */
  confirm(n: number): void {
    for (const event of this.#line.takeSent(n)) this.#spill?.forget(event);
    this.#spill?.sync();
  }

  /** A new connection: all that is unconfirmed is to be sent again. */
  beginConnection(): void {
    this.#line.rewind();
    if (this.#spill !== undefined) this.#spill.isConnected = true;
  }

  endConnection(): void {
    if (this.#spill !== undefined) this.#spill.isConnected = false;
  }

  /** It will never be sent: nothing else is confirmed by that. */
  discard(n: number): void {
    const event = this.#line.find(n);
    if (event !== undefined) this.#drop(event);
    this.#spill?.sync();
  }

  /** The backend refuses the size of something it was sent: the largest such event would be refused for ever. */
  dropLargestSent(): { n: number; bytes: number } | undefined {
    const largest = this.#line.largestSent();
    if (largest !== undefined) this.#drop(largest);
    this.#spill?.sync();
    return largest;
  }

  /** Writes what is in memory, and gives the store back. */
  async close(): Promise<void> {
    await this.#spill?.close();
  }

  #takeUp(store: QueueStore): void {
    for (const { n, entry } of store.index()) {
      if (entry instanceof Error) {
        this.#ports.log.error({ n, err: entry }, 'queued event is damaged, dropped');
        this.#spill?.remove(n);
        this.#dropped++;
      } else {
        this.#line.append({ n, ...entry, acceptedAtMs: 0, payload: undefined, place: 'disk' });
      }
    }
    if (this.#line.size > 0) this.#ports.log.info({ events: this.#line.size }, 'events of an earlier run are queued');
    this.#spill?.sync();
  }

  #makeRoom(bytes: number, check: string): void {
    while (this.#line.size >= this.#maxEvents || this.#line.bytes + bytes > this.#maxBytes) {
      const oldest = this.#line.oldestOf(check);
      if (oldest === undefined) return;
      this.#drop(oldest);
      if (this.#dropped % DROPS_PER_LOG_LINE !== 1) continue;
      this.#ports.log.warn(
        { dropped: this.#dropped, check: oldest.check },
        'event queue is full, oldest event dropped',
      );
    }
  }

  #drop(event: WaitingEvent): void {
    this.#line.remove(event);
    this.#spill?.forget(event);
    this.#dropped++;
  }

  #read(n: number): string | undefined {
    try {
      return this.#store?.read(n);
    } catch (error) {
      this.#ports.log.error({ n, err: error }, 'queued event is damaged, dropped');
      return undefined;
    }
  }
}
