import type { Duplex } from 'node:stream';
import type { QueueStats } from '../ports/queue-stats.ts';

/** The sockets of handshakes that have no answer yet. */
export class HandshakesUnderWay {
  readonly #sockets = new Set<Duplex>();
  readonly #limit: number;
  #refused = 0;
  #emptied: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get queueStats(): QueueStats {
    return { used: this.#sockets.size, limit: this.#limit, refused: this.#refused };
  }

  /** False when there are too many. */
  begin(socket: Duplex): boolean {
    if (this.#sockets.size >= this.#limit) {
      this.#refused += 1;
      return false;
    }
    this.#sockets.add(socket);
    return true;
  }

  end(socket: Duplex): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return;
    for (const resolve of this.#emptied.splice(0)) resolve();
  }

  /** Resolves when each has its answer, or was cut. */
  async empty(): Promise<void> {
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve));
  }

  cut(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
      this.end(socket);
    }
  }
}
