import type { Socket } from 'node:net';
import { Server, type ServerOptions } from 'node:https';

/** An HTTPS server that can also close connections that have not finished their handshake. */
export class TlsServer extends Server {
  readonly #sockets = new Set<Socket>();

  constructor(options: ServerOptions) {
    super(options);
    this.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
      });
    });
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }
}
