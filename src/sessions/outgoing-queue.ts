import type { Clock } from '../ports/clock.ts';

/** Check requests that may wait for one agent; beyond it the oldest is dropped. */
export const MAX_WAITING_REQUESTS = 100;

interface Outgoing {
  frame: Buffer;
  droppable: boolean;
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

  /** `droppable` frames give way to newer ones when too many wait. */
  push(frame: Buffer, droppable: boolean): void {
    if (droppable && this.#waitingRequests >= MAX_WAITING_REQUESTS) this.#dropOldestRequest();
    this.#waiting.push({ frame, droppable });
    if (droppable) this.#waitingRequests += 1;
    this.#write();
  }

  /** Frames of any type that wait behind the one being written. */
  get length(): number {
    return this.#waiting.length;
  }

  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  #dropOldestRequest(): void {
    this.#waiting.splice(
      this.#waiting.findIndex((item) => item.droppable),
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
    if (next.droppable) this.#waitingRequests -= 1;
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
