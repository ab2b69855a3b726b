import type { WebSocket } from 'ws';
import type { Clock } from '../ports/clock.ts';

/** Frames of one connection after which others have their turn; what `ws` has read with the last of them, 64 KiB at most, it still tells. */
const FRAMES_IN_A_TURN = 1_000;
/** Of these so many were for nothing: they were refused, or came after the end. */
const WASTE_IN_A_TURN = 100;
/** So long a connection that sends for nothing is not read. */
const WASTE_PAUSE_MS = 25;
/** A connection of which one frame took longer is not read for as long as that took. */
const LONG_MS = 50;

export interface FairReadingPorts {
  socket: Pick<WebSocket, 'pause' | 'resume'>;
  clock: Pick<Clock, 'after'>;
  /** Calls back in a turn of its own: no other connection that was slowed is read on in it. */
  inTurn(readOn: () => void): void;
  /** Whether the socket is not read for another reason, and must not be read on. */
  isPaused(): boolean;
}

/**
 * Keeps a connection that sends as fast as it can from holding up all others: now and then it is read on in the next turn of the
 * event loop only, or a while later, when what it sends is for nothing or takes long.
 */
export class FairReading {
  readonly #ports: FairReadingPorts;
  #frames = 0;
  #waste = 0;
  #isSlowed = false;

  constructor(ports: FairReadingPorts) {
    this.#ports = ports;
  }

  /** To be called at each frame. */
  count(): void {
    this.#frames += 1;
    if (this.#frames !== FRAMES_IN_A_TURN || this.#isSlowed) return;
    this.#ports.socket.pause();
    setImmediate(() => {
      // What came with the last of them may have been for nothing, or have taken long.
      if (!this.#isSlowed) this.#readOn();
    });
  }

  /** To be called at each frame that was for nothing. */
  waste(): void {
    this.#waste += 1;
    if (this.#waste >= WASTE_IN_A_TURN) this.#slow(WASTE_PAUSE_MS);
  }

  /** To be called with what a frame took, ms. */
  took(ms: number): void {
    if (ms >= LONG_MS) this.#slow(ms);
  }

  #slow(pauseMs: number): void {
    if (this.#isSlowed) return;
    this.#isSlowed = true;
    const { socket, clock, inTurn } = this.#ports;
    socket.pause();
    clock.after(pauseMs, () => {
      inTurn(() => {
        this.#isSlowed = false;
        this.#readOn();
      });
    });
  }

  #readOn(): void {
    this.#frames = 0;
    this.#waste = 0;
    if (!this.#ports.isPaused()) this.#ports.socket.resume();
  }
}
