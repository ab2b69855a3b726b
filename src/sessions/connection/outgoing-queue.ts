import type { Clock } from '../../ports/clock.ts';

/** Check requests that may wait for one agent. Past this number the oldest is dropped. */
export const MAX_WAITING_REQUESTS = 100;

/** The bytes of these requests. Beyond them the oldest ones are dropped. A request that is larger by itself is dropped. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** Message types with at most one waiting frame, because only the latest matters. */
type LatestOnly = 'ack' | 'entity_config';

interface Outgoing {
  type: 'check_request' | LatestOnly;
  frame: Buffer;
  rank: number;
  receipt?: { isDropped: boolean } | undefined;
}

export interface OutgoingPorts {
  clock: Clock;
  /** Calls `sent` when the frame has left the process or failed; TLS sockets pass `null` for success. */
  send(frame: Buffer, sent: (error?: Error | null) => void): void;
  /** A check request was dropped because the queue is full. */
  dropped(): void;
  /** A frame could not be written; the queue sends nothing more. */
  failed(error: Error): void;
  /** A write has been pending for longer than `writeTimeoutMs`. */
  stuck(): void;
  writeTimeoutMs: number;
}

/** Frames to one agent. One write is pending at a time, so a slow agent cannot fill the memory of the backend. */
export class OutgoingQueue {
  readonly #ports: OutgoingPorts;
  readonly #waiting: Outgoing[] = [];
  #waitingRequests = 0;
  #requestBytes = 0;
  #writingSinceMs: number | undefined;
  #stopWatching: (() => void) | undefined;
  /** Check requests dropped because the agent did not read. */
  dropped = 0;

  constructor(ports: OutgoingPorts) {
    this.#ports = ports;
  }

  /** Queues a check request. Drops the oldest ones at the limits, and marks the receipt of a dropped one. */
  pushRequest(frame: Buffer, receipt?: { isDropped: boolean }): void {
    if (frame.length > MAX_REQUEST_BYTES) {
      this.#countDropped(receipt);
      return;
    }
    if (this.#waitingRequests >= MAX_WAITING_REQUESTS) this.#dropOldestRequest();
    while (this.#requestBytes + frame.length > MAX_REQUEST_BYTES) this.#dropOldestRequest();
    this.#waitingRequests += 1;
    this.#requestBytes += frame.length;
    this.#push({ type: 'check_request', frame, rank: 0, receipt });
  }

  /** Queues a frame in place of a waiting one of the same type, unless that one has a higher rank. */
  pushLatest(type: LatestOnly, frame: Buffer, rank = 0): void {
    const waiting = this.#waiting.find((item) => item.type === type);
    if (waiting === undefined) {
      this.#push({ type, frame, rank });
    } else if (rank >= waiting.rank) {
      waiting.frame = frame;
      waiting.rank = rank;
    }
  }

  #push(item: Outgoing): void {
    this.#waiting.push(item);
    this.#write();
  }

  /** Frames waiting behind the pending write. */
  get length(): number {
    return this.#waiting.length;
  }

  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  get requestBytes(): number {
    return this.#requestBytes;
  }

  #dropOldestRequest(): void {
    const oldest = this.#waiting.findIndex(({ type }) => type === 'check_request');
    const [dropped] = this.#waiting.splice(oldest, 1);
    if (dropped !== undefined) this.#requestTaken(dropped);
    this.#countDropped(dropped?.receipt);
  }

  #countDropped(receipt: Outgoing['receipt']): void {
    if (receipt !== undefined) receipt.isDropped = true;
    this.dropped += 1;
    this.#ports.dropped();
  }

  #requestTaken({ frame }: Outgoing): void {
    this.#waitingRequests -= 1;
    this.#requestBytes -= frame.length;
  }

  #write(): void {
    if (this.#writingSinceMs !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (next.type === 'check_request') this.#requestTaken(next);
    this.#writingSinceMs = this.#ports.clock.monotonicMs();
    this.#watch();
    this.#ports.send(next.frame, (error) => {
      this.#writingSinceMs = undefined;
      if (error) this.#fail(error);
      else this.#write();
    });
  }

  #fail(error: Error): void {
    this.#waiting.length = 0;
    this.#waitingRequests = 0;
    this.#requestBytes = 0;
    this.#ports.failed(error);
  }

  /** Stops watching the pending write of a closed socket: the timer would keep the ended session in memory. */
  stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #watch(): void {
    if (this.#stopWatching !== undefined) return;
    this.#stopWatching = this.#ports.clock.after(this.#ports.writeTimeoutMs, () => {
      this.#stopWatching = undefined;
      if (this.#writingSinceMs === undefined) return;
      const pendingMs = this.#ports.clock.monotonicMs() - this.#writingSinceMs;
      if (pendingMs >= this.#ports.writeTimeoutMs) this.#ports.stuck();
      else this.#watch();
    });
  }
}
