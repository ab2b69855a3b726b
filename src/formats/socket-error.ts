/** Texts of errors of the system as operators of agents know them. */
const TEXTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

/** `listen` and `connect` under the names that the reference gives them. */
const OPERATIONS: Readonly<Record<string, readonly [operation: string, call: string]>> = {
  listen: ['listen', 'bind'],
  bind: ['listen', 'bind'],
  connect: ['dial', 'connect'],
};

/**
 * Describes an error of a socket as the reference does: `dial tcp 127.0.0.1:8081: connect: connection refused`. Returns undefined
 * for other errors.
 */
export function describeSocketError(error: Error): string | undefined {
  const {
    code = '',
    syscall = '',
    address,
    port,
    hostname,
  } = error as Error & {
    code?: string;
    syscall?: string;
    address?: string;
    port?: number;
    hostname?: string;
  };
  if (syscall === 'getaddrinfo' && code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  const [operation, call] = OPERATIONS[syscall] ?? [];
  const text = TEXTS[code];
  if (operation === undefined || text === undefined || address === undefined) return undefined;
  const network = syscall === 'bind' ? 'udp' : 'tcp';
  return `${operation} ${network} ${address.includes(':') ? `[${address}]` : address}:${port}: ${call}: ${text}`;
}
