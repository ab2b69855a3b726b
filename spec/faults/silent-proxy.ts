import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenLocally, portOf } from '../support/local-server.ts';

/** A TCP proxy of a local port that can fall silent: it then forwards nothing in either direction and closes no connection. */
export class SilentProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #isSilent = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    server.on('connection', (socket) => {
      this.#forward(socket);
    });
  }

  static async to(port: number): Promise<SilentProxy> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const proxy = new SilentProxy(server, port);
    await listenLocally(server);
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  #forward(near: Socket): void {
    this.#track(near);
    if (this.#isSilent) return;
    const far = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    this.#track(far);
    near.pipe(far);
    far.pipe(near);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // A reset must not end the process; the other side stays open, as it does when packets are lost.
    socket.on('error', () => undefined);
  }

  /** Drops everything from now on, ends of connections included. */
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
