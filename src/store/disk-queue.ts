import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { Clock } from '../ports/clock.ts';
import { markCleanStop, removeMark } from './lmdb/clean-stop.ts';
import { assertReadersFile, DATA_FILE, prepareDataFile, reserveReadersFile } from './lmdb/lmdb-file.ts';
import { sealText, unseal } from './encoding/sealed.ts';
import { lockStore, StoreInUse } from './lmdb/store-lock.ts';

const MAX_DATABASES = 4;
const LINE_FEED = 0x0a;
const ID_KEY = 'id';
const RESERVED_KEY = 'reserved-up-to';

/** The numbers in a block. The block is large, so that a disk that is full for days does not stop the sending. Gaps are allowed. */
const NUMBERS_PER_BLOCK = 1_000_000;
const LOCK_POLL_MS = 200;

/** LMDB never shrinks its file: an empty queue with a larger file is recreated. */
const MAX_EMPTY_FILE_BYTES = 16 * 1024 * 1024;

export interface StoredEvent {
  /** Assigned once within the lifetime of the queue. */
  readonly n: number;
  /** Events of one check displace each other when the queue is full. */
  readonly check: string;
  /** JSON. */
  readonly payload: string;
}

export interface QueueChanges {
  readonly puts: readonly StoredEvent[];
  readonly removed: Iterable<number>;
  /** Events that wait to be queued, under numbers of their own. */
  readonly postedPuts?: readonly StoredEvent[];
  readonly postedRemoved?: Iterable<number>;
  /** Takes another block of numbers. */
  readonly reserves: boolean;
}

/** A stored event without its payload, or the error of reading the record. */
interface IndexEntry {
  readonly n: number;
  readonly entry: { readonly check: string; readonly bytes: number } | Error;
}

/**
 * Events under their numbers in an LMDB environment of their own, which this process owns until `close`. The changes of a resolved
 * `write` survive `kill -9` and a power cut. The directory is accessible to its owner only.
 */
export class DiskQueue {
  /** The id of the queue, stored in its directory. Numbers are unique within it. */
  readonly id: string;
  /** Earlier processes used no number above this one. */
  readonly usedUpTo: number;
  readonly #root: RootDatabase<Buffer, string>;
  readonly #events: Database<Buffer, number>;
  readonly #posted: Database<Buffer, number>;
  readonly #meta: Database<Buffer, string>;
  readonly #lock: { release(): void };
  readonly #directory: string;
  /** A queue whose write failed has no clean stop. */
  #hasFailed = false;
  #reservedUpTo: number;

  /** @throws StoreInUse, CorruptRecord */
  private constructor(directory: string) {
    this.#directory = directory;
    this.#lock = lockStore(directory);
    try {
      removeMark(directory);
      chmodSync(directory, 0o700);
      assertReadersFile(directory);
      prepareDataFile(directory);
      reserveReadersFile(directory);
      this.#root = open<Buffer, string>({
        path: directory,
        encoding: 'binary',
        maxDbs: MAX_DATABASES,
        overlappingSync: false,
        eventTurnBatching: false,
      });
      this.#events = this.#root.openDB<Buffer, number>({ name: 'events', encoding: 'binary' });
      this.#posted = this.#root.openDB<Buffer, number>({ name: 'posted', encoding: 'binary' });
      this.#meta = this.#root.openDB<Buffer, string>({ name: 'meta', encoding: 'binary' });
      this.id = this.#readMeta(ID_KEY) ?? randomUUID();
      this.usedUpTo = Number(this.#readMeta(RESERVED_KEY) ?? 0);
      this.#reservedUpTo = this.usedUpTo;
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  /**
   * Reserves a block of numbers above all that were ever used. Waits until another owner has released the directory, and calls
   * `waits` once when it has to.
   *
   * @throws StoreInUse after `waitMs`
   */
  static async open(
    directory: string,
    clock: Clock,
    waitMs: number,
    waits?: (error: StoreInUse) => void,
  ): Promise<DiskQueue> {
    const untilMs = clock.monotonicMs() + waitMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await DiskQueue.#opened(directory);
      } catch (error) {
        if (!(error instanceof StoreInUse) || clock.monotonicMs() >= untilMs) throw error;
        if (isFirst) waits?.(error);
      }
      await new Promise<void>((resolve) => void clock.after(LOCK_POLL_MS, resolve));
    }
  }

  static async #opened(directory: string): Promise<DiskQueue> {
    let queue = new DiskQueue(directory);
    if (queue.#isEmpty() && statSync(join(directory, DATA_FILE)).size > MAX_EMPTY_FILE_BYTES) {
      await queue.#root.close();
      // The id is removed with the file, so numbers may start again.
      rmSync(join(directory, DATA_FILE));
      queue.#lock.release();
      queue = new DiskQueue(directory);
    }
    try {
      await queue.write({ puts: [], removed: [], reserves: true });
    } catch (error) {
      await queue.close();
      throw error;
    }
    return queue;
  }

  #isEmpty(): boolean {
    return this.#events.getKeysCount({ limit: 1 }) + this.#posted.getKeysCount({ limit: 1 }) === 0;
  }

  /** Numbers above this one are not reserved yet. */
  get reservedUpTo(): number {
    return this.#reservedUpTo;
  }

  /** The stored events by number. */
  index(): Iterable<IndexEntry> {
    return indexOf(this.#events, 'event');
  }

  /** The events that wait to be queued, by their numbers. */
  postedIndex(): Iterable<IndexEntry> {
    return indexOf(this.#posted, 'posted event');
  }

  /** The payload. @throws CorruptRecord when it is not what was written, or missing */
  read(n: number): string {
    return payloadOf(this.#events.get(n), `event ${n}`);
  }

  /** The payload of an event that waits to be queued. @throws CorruptRecord */
  readPosted(n: number): string {
    return payloadOf(this.#posted.get(n), `posted event ${n}`);
  }

  /** Applies all changes or none. They are durable when the promise resolves. Must not be called again before that. */
  async write({ puts, removed, reserves, postedPuts = [], postedRemoved = [] }: QueueChanges): Promise<void> {
    const reservedUpTo = this.#reservedUpTo + (reserves ? NUMBERS_PER_BLOCK : 0);
    try {
      await this.#root.batch(() => {
        for (const event of puts) void this.#events.put(event.n, sealedEvent(event));
        for (const event of postedPuts) void this.#posted.put(event.n, sealedEvent(event));
        for (const n of removed) void this.#events.remove(n);
        for (const n of postedRemoved) void this.#posted.remove(n);
        if (!reserves) return;
        void this.#meta.put(ID_KEY, sealText(this.id));
        void this.#meta.put(RESERVED_KEY, sealText(String(reservedUpTo)));
      });
    } catch (error) {
      this.#hasFailed = true;
      // The promise of the batch reports the failure; a second one has its cause.
      const cause: unknown = await Promise.resolve((error as { commitError?: Promise<unknown> }).commitError).catch(
        (commitError: unknown) => commitError,
      );
      throw new Error('could not write the queue', { cause: cause ?? error });
    }
    this.#root.resetReadTxn();
    this.#reservedUpTo = reservedUpTo;
  }

  async close(): Promise<void> {
    await this.#root.close();
    if (!this.#hasFailed) markCleanStop(this.#directory);
    this.#lock.release();
  }

  #readMeta(key: string): string | undefined {
    const sealed = this.#meta.get(key);
    return sealed === undefined ? undefined : unseal(sealed, key).toString();
  }
}

const sealedEvent = ({ check, payload }: StoredEvent): Buffer => sealText(`${JSON.stringify(check)}\n${payload}`);

function payloadOf(value: Buffer | undefined, what: string): string {
  const record = unseal(value ?? Buffer.alloc(0), what);
  return record.toString('utf8', record.indexOf(LINE_FEED) + 1);
}

function* indexOf(table: Database<Buffer, number>, what: string): Iterable<IndexEntry> {
  for (const { key: n, value } of table.getRange({ snapshot: false })) {
    yield { n, entry: indexEntry(value, `${what} ${n}`) };
  }
}

function indexEntry(value: Buffer, what: string): IndexEntry['entry'] {
  try {
    const record = unseal(value, what);
    const end = record.indexOf(LINE_FEED);
    return { check: JSON.parse(record.toString('utf8', 0, end)) as string, bytes: record.length - end - 1 };
  } catch (error) {
    return error instanceof Error ? error : new Error('unreadable', { cause: error });
  }
}
