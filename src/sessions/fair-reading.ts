import type { WebSocket } from 'ws';

/** Frames of one connection after which others have their turn; what `ws` has read with the last of them, 64 KiB at most, it still tells. */
const FRAMES_IN_A_TURN = 1_000;

/** Keeps a connection that sends as fast as it can from holding up all others: now and then it is read on in the next turn only. */
export class FairReading {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>;
  readonly #isPaused: () => boolean;
  #frames = 0;

  /** `isPaused` tells whether the socket is not read for another reason, and must not be read on. */
  constructor(socket: Pick<WebSocket, 'pause' | 'resume'>, isPaused: () => boolean) {
    this.#socket = socket;
    this.#isPaused = isPaused;
  }

  /** To be called at each frame. */
  count(): void {
    this.#frames += 1;
    if (this.#frames < FRAMES_IN_A_TURN) return;
    this.#frames = 0;
    this.#socket.pause();
    setImmediate(() => {
      if (!this.#isPaused()) this.#socket.resume();
    });
  }
}
