import { describeSocketError } from '../../formats/socket-error.ts';

/** Message of `ws` for a socket that was aborted before it was open. */
const ABORTED_HANDSHAKE = 'WebSocket was closed before the connection was established';
/** Message of Node for a peer that closes the connection without an answer. */
const HUNG_UP = 'socket hang up';
/** OpenSSL's messages for a peer that answers without TLS. */
const NOT_TLS = /wrong version number|packet length too long/;
/**
 * Codes for an untrusted certificate of the peer. Codes that start with `ERR_SSL_` concern the agent's own certificate.
 */
const CERTIFICATE = /^(?!ERR_SSL_).*(?:CERT|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Alert codes for a rejected or missing client certificate. */
const REJECTED_CERTIFICATE = /^ERR_SSL_.*_ALERT_(?:.*CERTIFICATE|UNKNOWN_CA)/;

/** Explains in one line why a backend could not be reached. `isSecure` means a `wss:` URL. */
export function describeConnectionError(error: Error, isSecure = false): string {
  // One error for each address of the host.
  if (error instanceof AggregateError) {
    return (error.errors as Error[]).map((each) => describeConnectionError(each, isSecure)).join('; ');
  }
  const { message, reason = message } = error as Error & { reason?: string };
  const code = 'code' in error ? String(error.code) : '';
  if (NOT_TLS.test(message)) return 'the backend does not speak TLS on this port; try ws://';
  if (CERTIFICATE.test(code)) return `the certificate of the backend is not trusted: ${message} (${code})`;
  if (REJECTED_CERTIFICATE.test(code))
    return `the backend rejected the certificate of this agent, or requires one: ${reason}`;
  if (code.startsWith('HPE_')) return `the answer is not HTTP, a TLS port requires wss://: ${message}`;
  if (message === HUNG_UP) {
    const guess = isSecure
      ? 'the backend may have rejected the certificate of this agent'
      : 'a TLS port requires wss://';
    return `the connection was closed without an answer; ${guess}`;
  }
  if (message === ABORTED_HANDSHAKE) return 'the backend did not answer the handshake in time';
  return describeSocketError(error) ?? message;
}

/** A URL for logs, without user, password and query. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
