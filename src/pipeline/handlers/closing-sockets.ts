import type { Socket } from 'node:net';
import type { Clock } from '../../ports/clock.ts';

/** How long a receiver may keep a connection open after it has received everything. */
const CLOSING_MS = 2_000;
/**
 * The maximum number of connections that wait for their receivers to close. Beyond it the oldest are closed at once.
 */
const MAX_CLOSING = 200;

/** Closes connections over which everything was sent, while their runs are done already. */
export class ClosingSockets {
  readonly #clock: Clock;
  readonly #cancels = new Map<Socket, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#cancels.size;
  }

  /** Closes the connection when its receiver has closed it, or soon. */
  add(socket: Socket): void {
    const cancel = this.#clock.after(CLOSING_MS, () => socket.destroy());
    this.#cancels.set(socket, cancel);
    socket.once('close', () => {
      this.#cancels.delete(socket);
      cancel();
    });
    for (const [oldest] of this.#cancels) {
      if (this.#cancels.size <= MAX_CLOSING) break;
      this.#forget(oldest);
      oldest.destroy();
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const [socket] of this.#cancels) {
      this.#forget(socket);
      socket.destroy();
    }
  }

  #forget(socket: Socket): void {
    this.#cancels.get(socket)?.();
    this.#cancels.delete(socket);
  }
}
