import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { listenLocally, portOf } from './local-server.ts';

/** A TCP listener for handlers of type `tcp`: it receives one event in JSON per connection. */
export class HandlerSink {
  /** Received events; a test may remove those it has compared. */
  readonly events: unknown[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#receive(socket);
    });
  }

  /** Listens on a free port by default. */
  static async listen(port = 0): Promise<HandlerSink> {
    const server = createServer({ allowHalfOpen: true });
    const sink = new HandlerSink(server);
    await listenLocally(server, port);
    return sink;
  }

  get port(): number {
    return portOf(this.#server);
  }

  #receive(socket: Socket): void {
    const chunks: Buffer[] = [];
    this.#sockets.add(socket);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => {
      this.events.push(JSON.parse(Buffer.concat(chunks).toString()));
      socket.end();
    });
    socket.on('close', () => this.#sockets.delete(socket));
    // A reset connection carries no complete event.
    socket.on('error', () => undefined);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
