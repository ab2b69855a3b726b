import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { listenLocally, portOf } from './local-server.ts';

/** A TCP and a UDP listener that keep everything they receive. */
export class ByteSinks {
  /** The text of each connection that its sender has ended. */
  readonly connections: string[] = [];
  readonly datagrams: string[] = [];
  readonly #server: Server;
  readonly #udp: DatagramSocket;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, udp: DatagramSocket) {
    this.#server = server;
    this.#udp = udp;
    server.on('connection', (socket) => {
      this.#receive(socket);
    });
    udp.on('message', (datagram) => this.datagrams.push(datagram.toString()));
  }

  static async listen(): Promise<ByteSinks> {
    const [server, udp] = [createServer(), createSocket('udp4')];
    const sinks = new ByteSinks(server, udp);
    udp.bind(0, '127.0.0.1');
    await Promise.all([listenLocally(server), once(udp, 'listening')]);
    return sinks;
  }

  get tcpPort(): number {
    return portOf(this.#server);
  }

  get udpPort(): number {
    return this.#udp.address().port;
  }

  #receive(socket: Socket): void {
    const chunks: Buffer[] = [];
    this.#sockets.add(socket);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => this.connections.push(Buffer.concat(chunks).toString()));
    socket.on('close', () => this.#sockets.delete(socket));
    // A reset connection is incomplete and not recorded.
    socket.on('error', () => undefined);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    this.#udp.close();
    await Promise.all([once(this.#server, 'close'), once(this.#udp, 'close')]);
  }
}
