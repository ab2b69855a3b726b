import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { inTime } from './eventually.ts';

/** A socket after its handshake with a port of loopback; the caller ends it. @throws what kept it from one */
export async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  await inTime(once(socket, 'secureConnect'), 'a TLS handshake');
  return socket;
}

/** What is shown on a port to who trusts these authorities. */
export async function presentedFingerprint(port: number, options: ConnectionOptions): Promise<string> {
  const socket = await handshake(port, options);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** The code of an error that must come, or else its message. */
export async function errorCodeOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
    throw error;
  }
  throw new Error('it did not fail');
}
