import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, rootCertificates } from 'node:tls';
import { basicHeader } from '../../wire/handshake.ts';
import { bareHost } from './proxy.ts';

/** A proxy could not be reached, or refused to connect. */
export class ProxyFailed extends Error {}

export interface TunnelTarget {
  host: string;
  port: number;
}

const authorizationOf = ({ username, password }: URL): Record<string, string> =>
  username === '' && password === ''
    ? {}
    : {
        'Proxy-Authorization': basicHeader({
          username: decodeURIComponent(username),
          password: decodeURIComponent(password),
        }),
      };

/** The authorities of backends are also trusted for a proxy, besides those of the system. */
const trusted = (ca: ConnectionOptions['ca']): ConnectionOptions['ca'] =>
  ca === undefined ? undefined : [...rootCertificates, ...[ca].flat()];

/** An address is not a server name. */
const serverName = (host: string): string => (isIP(host) === 0 ? host : '');

/** Connects one request to its target through an HTTP proxy. */
export class ProxyTunnel extends Agent {
  /** Node.js compares it with the protocol of the request. */
  readonly protocol: string;
  readonly #proxy: URL;
  readonly #target: TunnelTarget;
  /** The options of TLS, for a target with TLS. */
  readonly #tls: ConnectionOptions | undefined;
  #asked: ClientRequest | undefined;

  constructor(proxy: URL, target: TunnelTarget, tls: ConnectionOptions | undefined) {
    super();
    this.protocol = tls === undefined ? 'http:' : 'https:';
    this.#proxy = proxy;
    this.#target = target;
    this.#tls = tls;
  }

  override createConnection(...[, opened]: Parameters<Agent['createConnection']>): undefined {
    // Node.js calls back with the error alone.
    const fail = opened as (error: Error) => void;
    const shown = `${this.#proxy.protocol}//${this.#proxy.host}`;
    const asked = this.#connectRequest();
    this.#asked = asked;
    asked.once('connect', ({ statusCode = 0, statusMessage }: IncomingMessage, socket: Socket, head: Buffer) => {
      if (statusCode >= 200 && statusCode <= 299) {
        if (head.length > 0) socket.unshift(head);
        opened?.(null, this.#tls === undefined ? socket : this.#secured(socket, this.#tls));
        return;
      }
      socket.destroy();
      const answer = `status ${statusCode} ${statusMessage ?? ''}`.trimEnd();
      fail(new ProxyFailed(`the proxy ${shown} refused to connect to ${this.#address}: ${answer}`));
    });
    asked.once('error', (error) => {
      fail(new ProxyFailed(`the connection to the proxy ${shown} failed: ${error.message}`, { cause: error }));
    });
    asked.end();
    return undefined;
  }

  /** Abandons an unfinished attempt. Otherwise a proxy that does not answer would keep its connection open. */
  abandon(): void {
    this.#asked?.destroy();
  }

  get #address(): string {
    const { host, port } = this.#target;
    return `${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  #connectRequest(): ClientRequest {
    const proxy = this.#proxy;
    const isSecure = proxy.protocol === 'https:';
    const host = bareHost(proxy.hostname);
    return (isSecure ? httpsRequest : httpRequest)({
      host,
      port: proxy.port || (isSecure ? 443 : 80),
      method: 'CONNECT',
      path: this.#address,
      headers: { Host: this.#address, ...authorizationOf(proxy) },
      agent: false,
      // Node.js would take the server name from the header Host, which is that of the target.
      ...(isSecure ? { ca: trusted(this.#tls?.ca), servername: serverName(host) } : {}),
    });
  }

  /** Starts TLS with the target inside the tunnel. */
  #secured(socket: Socket, tls: ConnectionOptions): Socket {
    const { host } = this.#target;
    return connectTls({ ...tls, socket, host, servername: serverName(host) });
  }
}
