import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { namesOf } from './check-key.ts';
import { EventList, type WaitingEvent } from './event-list.ts';
import { type QueueStore, Spill } from './spill.ts';

/** Limit for stored events, besides the configured number. */
export const MAX_QUEUED_BYTES = 256 * 1024 * 1024;
/** Limits without a store. */
export const MAX_EVENTS_IN_MEMORY = 1_000;
const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024;
/** While the queue is full every new event displaces one, so only one line is logged for this many. */
const DROPS_PER_LOG_LINE = 1_000;

interface QueuePorts {
  clock: Clock;
  log: Log;
}

export interface QueuedEvent {
  /** Unique within the queue id and ascending in the order of sending. */
  readonly n: number;
  /** JSON. */
  readonly payload: string;
}

/**
 * Queues events in order until they are confirmed. A new connection sends all unconfirmed events again with the same
 * numbers, and so does the next process.
 * After `kill -9` or a machine failure, the following unconfirmed events are lost: those accepted during the last two
 * transactions of the store and, while connected, those accepted up to HELD_IN_MEMORY_MS before. A regular stop loses
 * nothing. Without a store, or while the store cannot be written (which is logged), all unconfirmed events are lost
 * with the process.
 * At the limit a new event displaces the oldest event of the same check, or else the oldest of all. Displaced events
 * are counted.
 */
export class EventQueue {
  readonly #events = new EventList();
  readonly #store: QueueStore | undefined;
  readonly #ports: QueuePorts;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  /** Undefined without a store. */
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
    if (store !== undefined) this.#loadStored(store);
  }

  get size(): number {
    return this.#events.size;
  }

  /** The posted events, undefined without a store. */
  get posts(): Pick<Spill, 'post' | 'removePosted'> | undefined {
    return this.#spill;
  }

  /** Events displaced or damaged since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Appends an event. `payload` is JSON; `check` groups the events that displace each other first. */
  push(payload: string, check: string): void {
    const bytes = Buffer.byteLength(payload);
    this.#makeRoom(bytes, check);
    const acceptedAtMs = this.#ports.clock.monotonicMs();
    const event: WaitingEvent = { n: ++this.#lastNumber, check, bytes, acceptedAtMs, payload, place: 'memory' };
    this.#events.append(event);
    this.#spill?.add(event);
  }

  get bytes(): number {
    return this.#events.bytes;
  }

  /**
   * Moves a posted event to the queue in one transaction, so that it is stored exactly once. Resolves when
   * it can be sent.
   */
  async move(posted: number, payload: string, check: string): Promise<void> {
    if (this.#spill === undefined) {
      this.push(payload, check);
      return;
    }
    const bytes = Buffer.byteLength(payload);
    this.#makeRoom(bytes, check);
    const acceptedAtMs = this.#ports.clock.monotonicMs();
    const event: WaitingEvent = { n: ++this.#lastNumber, check, bytes, acceptedAtMs, payload, place: 'being moved' };
    this.#events.append(event);
    const spill = this.#spill;
    await new Promise<void>((done) => spill.move({ posted, event, done }));
  }

  /** The next event to send on this connection. */
  next(): QueuedEvent | undefined {
    for (let event = this.#events.next; event !== undefined; event = this.#events.next) {
      if (this.#store !== undefined && event.n > this.#store.reservedUpTo) return undefined;
      if (event.place === 'being moved') return undefined;
      const payload = event.payload ?? this.#read(event.n);
      if (payload !== undefined) {
        this.#events.markSent();
        return { n: event.n, payload };
      }
      this.#drop(event);
      this.#spill?.sync();
    }
    return undefined;
  }

  /** Removes the events up to `n` that were sent on this connection. */
  confirm(n: number): void {
    for (const event of this.#events.removeSent(n)) this.#spill?.release(event);
    this.#spill?.sync();
  }

  /** Starts over with the first unconfirmed event. */
  beginConnection(): void {
    this.#events.rewind();
    if (this.#spill !== undefined) this.#spill.isConnected = true;
  }

  endConnection(): void {
    if (this.#spill !== undefined) this.#spill.isConnected = false;
  }

  /** Removes an event that cannot be sent, without confirming others. */
  discard(n: number): void {
    const event = this.#events.find(n);
    if (event !== undefined) this.#drop(event);
    this.#spill?.sync();
  }

  /**
   * Removes the largest sent event after the backend rejected a message for its size, because it would be rejected
   * again. Returns undefined when no event is larger than `bytes`.
   */
  dropLargestSent(bytes: number): { n: number; bytes: number } | undefined {
    const largest = this.#events.largestSent();
    if (largest === undefined || largest.bytes <= bytes) return undefined;
    this.#drop(largest);
    this.#spill?.sync();
    return largest;
  }

  /** Writes the events in memory to the store and closes it. */
  async close(): Promise<void> {
    await this.#spill?.close();
  }

  #loadStored(store: QueueStore): void {
    for (const { n, entry } of store.index()) {
      if (entry instanceof Error) {
        this.#ports.log.error({ n, err: entry }, 'dropping a damaged queued event');
        this.#spill?.remove(n);
        this.#dropped++;
      } else {
        this.#events.append({ n, ...entry, acceptedAtMs: 0, payload: undefined, place: 'disk' });
      }
    }
    if (this.#events.size > 0)
      this.#ports.log.info({ events: this.#events.size }, 'loaded queued events of an earlier run');
    this.#spill?.sync();
  }

  #makeRoom(bytes: number, check: string): void {
    const isFull = (): boolean => this.#events.size >= this.#maxEvents || this.#events.bytes + bytes > this.#maxBytes;
    if (!isFull()) return;
    for (const oldest of this.#events.oldestFirst(check)) {
      if (!isFull()) return;
      this.#drop(oldest);
      if (this.#dropped % DROPS_PER_LOG_LINE !== 1) continue;
      this.#ports.log.warn(
        { dropped: this.#dropped, ...namesOf(oldest.check) },
        'event queue is full, dropping the oldest event',
      );
    }
  }

  #drop(event: WaitingEvent): void {
    this.#events.remove(event);
    this.#spill?.release(event);
    this.#dropped++;
  }

  #read(n: number): string | undefined {
    try {
      return this.#store?.read(n);
    } catch (error) {
      this.#ports.log.error({ n, err: error }, 'dropping a damaged queued event');
      return undefined;
    }
  }
}
