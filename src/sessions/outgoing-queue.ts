import type { Clock } from '../ports/clock.ts';

/** Check requests that may wait for one agent; beyond it the oldest is dropped. */
const MAX_WAITING_REQUESTS = 100;

interface Outgoing {
  frame: Buffer;
  droppable: boolean;
}

export interface OutgoingPorts {
  clock: Clock;
  /** Calls back when the frame has left the process, with an error if it cannot. */
  send(frame: Buffer, sent: (error?: Error) => void): void;
  /** A write has been pending for longer than the limit. */
  stuck(): void;
  writeTimeoutMs: number;
}

/** Frames to one agent, one write at a time, so that a slow peer cannot make the backend hold them all. */
export class OutgoingQueue {
  readonly #ports: OutgoingPorts;
  readonly #waiting: Outgoing[] = [];
  #writingSinceMs: number | undefined;
  #watching = false;
  /** Check requests that were dropped because the agent did not read. */
  dropped = 0;

  constructor(ports: OutgoingPorts) {
    this.#ports = ports;
  }

  /** `droppable` frames give way to newer ones when too many wait. */
  push(frame: Buffer, droppable: boolean): void {
    if (droppable && this.#waiting.filter((item) => item.droppable).length >= MAX_WAITING_REQUESTS) {
      this.#waiting.splice(
        this.#waiting.findIndex((item) => item.droppable),
        1,
      );
      this.dropped += 1;
    }
    this.#waiting.push({ frame, droppable });
    this.#write();
  }

  #write(): void {
    if (this.#writingSinceMs !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#writingSinceMs = this.#ports.clock.monotonicMs();
    this.#watch();
    this.#ports.send(next.frame, (error) => {
      this.#writingSinceMs = undefined;
      if (error === undefined) this.#write();
      else this.#waiting.length = 0;
    });
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
