import type { Clock } from '../ports/clock.ts';

/** Check requests that may wait for one agent; beyond it the oldest is dropped. */
export const MAX_WAITING_REQUESTS = 100;

/** Of these only one of each type waits: the agent needs nothing but the newest. */
type Newest = 'ack' | 'entity_config';

interface Outgoing {
  type: 'check_request' | Newest;
  frame: Buffer;
  rank: number;
}

export interface OutgoingPorts {
  clock: Clock;
  /** Calls back when the frame has left the process, with an error if it cannot; sockets of TLS say `null` for none. */
  send(frame: Buffer, sent: (error?: Error | null) => void): void;
  /** A check request was dropped. */
  dropped(): void;
  /** A frame could not be written: nothing more goes out. */
  failed(error: Error): void;
  /** A write has been pending for longer than the limit. */
  stuck(): void;
  writeTimeoutMs: number;
}

/** Frames to one agent, one write at a time, so that a slow peer cannot make the backend hold them all. */
export class OutgoingQueue {
  readonly #ports: OutgoingPorts;
  readonly #waiting: Outgoing[] = [];
  #waitingRequests = 0;
  #writingSinceMs: number | undefined;
  #watching = false;
  /** Check requests that were dropped because the agent did not read. */
  dropped = 0;

  constructor(ports: OutgoingPorts) {
    this.#ports = ports;
  }

  /** Gives way to newer ones when too many wait. */
  pushRequest(frame: Buffer): void {
    if (this.#waitingRequests >= MAX_WAITING_REQUESTS) this.#dropOldestRequest();
    this.#waitingRequests += 1;
    this.#push({ type: 'check_request', frame, rank: 0 });
  }

  /** Takes the place of the one of its type that waits, if there is one, unless that one ranks higher. */
  pushNewest(type: Newest, frame: Buffer, rank = 0): void {
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

  /** Frames of any type that wait behind the one being written: the requests, and at most one of each other type. */
  get length(): number {
    return this.#waiting.length;
  }

  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  #dropOldestRequest(): void {
    this.#waiting.splice(
      this.#waiting.findIndex(({ type }) => type === 'check_request'),
      1,
    );
    this.#waitingRequests -= 1;
    this.dropped += 1;
    this.#ports.dropped();
  }

  #write(): void {
    if (this.#writingSinceMs !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (next.type === 'check_request') this.#waitingRequests -= 1;
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
    this.#ports.failed(error);
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#ports.clock.after(this.#ports.writeTimeoutMs, () => {
      this.#watching = false;
      if (this.#writingSinceMs === undefined) return;
      const pendingMs = this.#ports.clock.monotonicMs() - this.#writingSinceMs;
      if (pendingMs >= this.#ports.writeTimeoutMs) this.#ports.stuck();
      else this.#watch();
    });
  }
}
