import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { inTime } from './eventually.ts';

/** Connects to a local port with TLS. The caller ends the socket. @throws the error of a failed handshake */
export async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  await inTime(once(socket, 'secureConnect'), 'a TLS handshake');
  return socket;
}

/** Returns the SHA-256 fingerprint of the certificate that a local port presents. */
export async function presentedFingerprint(port: number, options: ConnectionOptions): Promise<string> {
  const socket = await handshake(port, options);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Returns the code of the error with which `attempt` rejects, or its message if it has no code. @throws if it does not reject */
export async function errorCodeOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
    throw error;
  }
  throw new Error('the attempt succeeded');
}
