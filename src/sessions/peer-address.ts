import type { Socket } from 'node:net';

/** The other end of a connection, as the system names it: behind a proxy this is the proxy. */
export interface PeerAddress {
  host: string;
  /** `host:port`, an IPv6 host in brackets. */
  text: string;
}

/** To be asked while the socket is open: a closed one has no address any more. */
export function peerAddress({ remoteAddress = '', remotePort = 0 }: Socket): PeerAddress {
  const host = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return { host, text: `${host.includes(':') ? `[${host}]` : host}:${remotePort}` };
}
