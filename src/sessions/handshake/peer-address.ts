import type { Socket } from 'node:net';

/** Address of the connection's peer; behind a proxy it is the proxy. */
export interface PeerAddress {
  host: string;
  /** `host:port`, an IPv6 host in brackets. */
  text: string;
}

/** Must be called while the socket is open; a closed one has no address. */
export function peerAddress({ remoteAddress = '', remotePort = 0 }: Socket): PeerAddress {
  const host = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return { host, text: `${host.includes(':') ? `[${host}]` : host}:${remotePort}` };
}
