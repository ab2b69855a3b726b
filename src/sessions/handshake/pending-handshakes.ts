import type { Duplex } from 'node:stream';
import type { QueueStats } from '../../ports/queue-stats.ts';

/** Sockets of handshakes without a response. */
export class PendingHandshakes {
  readonly #sockets = new Set<Duplex>();
  readonly #limit: number;
  #refused = 0;
  #emptyWaiters: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get queueStats(): QueueStats {
    return { used: this.#sockets.size, limit: this.#limit, refused: this.#refused };
  }

  /** Returns false at the limit. */
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
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }

  /** Resolves when no handshake is pending. */
  async empty(): Promise<void> {
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  destroyAll(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
      this.end(socket);
    }
  }
}
