import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
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
  postedIndex(): Iterable<{ n: number; entry: { check: string; bytes: number } | Error }>;
  /** @throws when the record is damaged */
  readPosted(n: number): string;
  write(changes: {
    puts: readonly StoredEvent[];
    removed: Iterable<number>;
    reserves: boolean;
    postedPuts?: readonly StoredEvent[];
    postedRemoved?: Iterable<number>;
  }): Promise<void>;
  close(): Promise<void>;
}

interface SpillPorts {
  clock: Clock;
  log: Log;
}

/** Posted events that are to be stored in one transaction, and the callback of their sender. */
interface Posting {
  readonly events: readonly StoredEvent[];
  readonly done: (error?: Error) => void;
}

/** A posted event that becomes a queued one in one transaction. */
interface Move {
  readonly posted: number;
  readonly event: WaitingEvent;
  readonly done: () => void;
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
  #postings: Posting[] = [];
  #moves: Move[] = [];
  /** Numbers of damaged posted events. */
  #postedRemoved: number[] = [];
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

  /** Stores posted events. Resolves when they are durable. Rejects when they could not be written; none of them is stored then. */
  post(events: readonly StoredEvent[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#postings.push({ events, done });
      this.sync();
    });
  }

  /** Makes a posted event a queued one. `done` is called when it is on disk, or stays in memory because the store cannot be written. */
  move(move: Move): void {
    this.#lastNumber = move.event.n;
    if (this.#cancelRetry !== undefined) {
      this.#keepInMemory(move);
      return;
    }
    move.event.place = 'being moved';
    this.#moves.push(move);
    this.sync();
  }

  /** The event is sent from memory. It stays on disk as a posted event until the next write. */
  #keepInMemory({ event, posted, done }: Move): void {
    if (event.place !== 'gone') this.#hold(event);
    this.#postedRemoved.push(posted);
    done();
  }

  /** Removes a damaged posted event. */
  removePosted(n: number): void {
    this.#postedRemoved.push(n);
    this.sync();
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
    if (this.#writing !== undefined) return;
    if (this.#cancelRetry !== undefined) {
      this.#refusePostings(new Error('the queue cannot be written'));
      return;
    }
    const puts = this.#writeRequested ? [...this.#held] : [];
    const reserves = this.#lastNumber > this.#store.reservedUpTo - SPARE_NUMBERS;
    this.#writeRequested = false;
    const [postings, moves, postedRemoved] = [this.#postings, this.#moves, this.#postedRemoved];
    const isIdle = puts.length + this.#removed.size + postings.length + moves.length + postedRemoved.length === 0;
    if (isIdle && !reserves) return;
    const removed = this.#removed;
    this.#removed = new Set();
    [this.#postings, this.#moves, this.#postedRemoved] = [[], [], []];
    const records = [...puts, ...moves.map(({ event }) => event)].map(recordOf);
    for (const event of puts) {
      event.place = 'being written';
      this.#held.delete(event);
      this.#heldBytes -= event.bytes;
    }
    const changes = {
      puts: records,
      removed,
      reserves,
      postedPuts: postings.flatMap(({ events }) => events),
      postedRemoved: [...moves.map(({ posted }) => posted), ...postedRemoved],
    };
    this.#writing = this.#store.write(changes).then(
      () => {
        for (const { event, done } of moves) {
          if (event.place === 'being moved') [event.place, event.payload] = ['disk', undefined];
          done();
        }
        for (const { done } of postings) done();
        this.#written(puts);
      },
      (error: unknown) => {
        for (const move of moves) this.#keepInMemory(move);
        this.#postedRemoved.push(...postedRemoved);
        for (const { done } of postings) done(error as Error);
        this.#failed(puts, removed, error);
      },
    );
  }

  #refusePostings(error: Error): void {
    const postings = this.#postings;
    this.#postings = [];
    for (const { done } of postings) done(error);
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
    // These moves began during the write.
    const moves = this.#moves;
    this.#moves = [];
    for (const move of moves) this.#keepInMemory(move);
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

const recordOf = ({ n, check, payload }: WaitingEvent): StoredEvent => ({ n, check, payload: payload ?? '' });
