import type { ListenOptions, Server } from 'node:net';

/** Connections that may wait to be accepted, because all agents reconnect at once. The system may allow fewer (net.core.somaxconn). */
const BACKLOG = 4_096;

/** Resolves when the server listens. @throws the system's error, for example when the address is in use */
export async function listen(server: Server, options: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ backlog: BACKLOG, ...options }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The bound `host:port`, with an IPv6 host in brackets. */
export function boundAddress(server: Server): { text: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('server does not listen on a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { text: `${host}:${address.port}`, port: address.port };
}

/** Resolves when the last connection has ended. */
export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
