import type { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';

/** Frames read from one connection in one tick. `ws` still delivers up to 64 KiB that it has already read. */
const MAX_FRAMES_PER_TICK = 1_000;
/** Rejected frames, or frames after the end of the session, in one tick. */
const MAX_REJECTED_PER_TICK = 100;
/** Pause for a connection whose frames are rejected. */
const REJECTED_PAUSE_MS = 25;
/** A frame that takes longer than this pauses its connection for as long as it took. */
const SLOW_FRAME_MS = 50;

export interface FairReadingPorts {
  socket: Pick<WebSocket, 'pause' | 'resume'>;
  clock: Pick<Clock, 'after'>;
  /** Calls `readOn` in a tick in which no other slowed connection resumes. */
  inOwnTick(readOn: () => void): void;
  /** Whether the socket is paused for another reason and must stay so. */
  isPaused(): boolean;
}

/**
 * Keeps a fast sender from delaying other connections. It yields after a number of frames, and pauses the connection
 * for a while when its frames are rejected or slow to process.
 */
export class FairReading {
  readonly #ports: FairReadingPorts;
  #frames = 0;
  #rejected = 0;
  #isSlowed = false;

  constructor(ports: FairReadingPorts) {
    this.#ports = ports;
  }

  /** Whether the connection is paused for a while. Then it resumes reading by itself. */
  get isSlowed(): boolean {
    return this.#isSlowed;
  }

  /** Must be called for each frame. */
  count(): void {
    this.#frames += 1;
    if (this.#frames !== MAX_FRAMES_PER_TICK || this.#isSlowed) return;
    this.#ports.socket.pause();
    setImmediate(() => {
      // The last frames may have slowed the connection.
      if (!this.#isSlowed) this.#readOn();
    });
  }

  /** Must be called for each rejected frame. */
  countRejected(): void {
    this.#rejected += 1;
    if (this.#rejected >= MAX_REJECTED_PER_TICK) this.#slow(REJECTED_PAUSE_MS);
  }

  /** Must be called with the processing time of each frame, ms. */
  recordDuration(ms: number): void {
    if (ms >= SLOW_FRAME_MS) this.#slow(ms);
  }

  #slow(pauseMs: number): void {
    if (this.#isSlowed) return;
    this.#isSlowed = true;
    const { socket, clock, inOwnTick } = this.#ports;
    socket.pause();
    clock.after(pauseMs, () => {
      inOwnTick(() => {
        this.#isSlowed = false;
        this.#readOn();
      });
    });
  }

  #readOn(): void {
    this.#frames = 0;
    this.#rejected = 0;
    if (!this.#ports.isPaused()) this.#ports.socket.resume();
  }
}
