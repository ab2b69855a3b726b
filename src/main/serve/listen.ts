import type { ListenOptions, Server } from 'node:net';

/**
 * The maximum number of connections that wait to be accepted. It is large, because all agents may reconnect at once. The system may
 * allow fewer (net.core.somaxconn).
 */
const BACKLOG = 4_096;

const CAUSES: Record<string, string> = {
  EADDRINUSE: 'another process uses the address',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not use the port',
  ENOTFOUND: 'the host name is unknown',
};

/** A listener could not be opened. The message names its flags and its address. */
export class CannotListen extends Error {
  readonly code: string;

  constructor({ host, port, flags }: FlaggedAddress, cause: NodeJS.ErrnoException) {
    const code = cause.code ?? 'unknown error';
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const names = flags.map((flag) => `--${flag}`).join(' and ');
    super(`cannot listen on ${address} (${names}): ${CAUSES[code] ?? cause.message} (${code})`);
    this.code = code;
  }
}

interface FlaggedAddress {
  host: string;
  port: number;
  /** The flags that set the address. */
  flags: readonly string[];
}

/** Resolves when the server listens on the address. @throws CannotListen */
export async function listenOn(server: Server, address: FlaggedAddress): Promise<void> {
  try {
    await listen(server, { host: address.host, port: address.port });
  } catch (error) {
    throw new CannotListen(address, error as NodeJS.ErrnoException);
  }
}

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
