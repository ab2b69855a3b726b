import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a local port that can fall silent: then nothing comes through in either direction, and nobody is told. */
export class SilentProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #isSilent = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    server.on('connection', (socket) => {
      this.#carry(socket);
    });
  }

  static async to(port: number): Promise<SilentProxy> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const wire = new SilentProxy(server, port);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return wire;
  }

  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  #carry(near: Socket): void {
    this.#keep(near);
    if (this.#isSilent) return;
    const far = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    this.#keep(far);
    near.pipe(far);
    far.pipe(near);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Whoever is at the other end gives up; there is nobody to tell.
    socket.on('error', () => undefined);
  }

  /** What is sent now and later does not arrive, an end of the connection neither. */
  fallSilent(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
