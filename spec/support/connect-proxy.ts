import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

interface ConnectProxyOptions {
  /** `user:password` that clients must send. */
  credentials?: string;
  /** Leaves requests unanswered. */
  stalls?: boolean;
  /** Makes it a proxy with TLS. */
  tls?: { cert: string; key: string };
  /** Connects to this host, whatever is asked for. */
  host?: string;
}

/** An HTTP proxy on loopback that serves `CONNECT` and nothing else. */
export class ConnectProxy {
  /** The targets that were asked for. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #options: ConnectProxyOptions;
  readonly #sockets = new Set<Duplex>();

  private constructor(server: Server, options: ConnectProxyOptions) {
    this.#server = server;
    this.#options = options;
    server.on('connect', (request, socket, head) => this.#serve(request, socket, head));
  }

  static async start(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
    const server = options.tls === undefined ? createServer() : createSecureServer(options.tls);
    const proxy = new ConnectProxy(server, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** `host:port` */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The connections of clients that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve({ url = '', headers }: IncomingMessage, client: Duplex, head: Buffer): void {
    this.asked.push(url);
    this.#sockets.add(client);
    client.on('close', () => this.#sockets.delete(client));
    client.on('error', () => undefined);
    client.on('end', () => client.end());
    const { credentials, stalls, host } = this.#options;
    if (stalls === true) {
      client.resume();
      return;
    }
    const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\n\r\n');
      return;
    }
    const target: Socket = connect(Number(url.split(':').at(-1)), host ?? url.replace(/:\d+$/, ''), () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.write(head);
      client.pipe(target).pipe(client);
    });
    target.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  }
}
