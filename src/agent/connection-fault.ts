/** `ws` says this of a socket that was given up before it was open. */
const GIVEN_UP = 'WebSocket was closed before the connection was established';
/** Node says this of a peer that closes before it answers. */
const HUNG_UP = 'socket hang up';
/** OpenSSL's texts for a peer that answers in clear text. */
const NOT_TLS = /wrong version number|packet length too long/;
/** Codes of OpenSSL and Node for a peer's certificate; those that begin with `ERR_SSL_` are the peer's view of ours. */
const CERTIFICATE = /^(?!ERR_SSL_).*(?:CERT|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Codes of alerts about a certificate of this agent, or about none. */
const REFUSED_CERTIFICATE = /^ERR_SSL_.*_ALERT_(?:.*CERTIFICATE|UNKNOWN_CA)/;

/** Why a backend could not be reached, in a line for whoever has to repair it. `isSecure`: by `wss:`. */
export function connectionFault(error: Error, isSecure = false): string {
  // One for each address of a host name.
  if (error instanceof AggregateError) {
    return (error.errors as Error[]).map((each) => connectionFault(each, isSecure)).join('; ');
  }
  const { message, reason = message } = error as Error & { reason?: string };
  const code = 'code' in error ? String(error.code) : '';
  if (NOT_TLS.test(message)) return 'the backend does not speak TLS on this port; with ws:// it may answer';
  if (CERTIFICATE.test(code)) return `the certificate of the backend is not trusted: ${message} (${code})`;
  if (REFUSED_CERTIFICATE.test(code))
    return `the backend refuses the certificate of this agent, or wants one: ${reason}`;
  if (code.startsWith('HPE_')) return `the answer is not HTTP, a port with TLS wants wss://: ${message}`;
  if (message === HUNG_UP) {
    const guess = isSecure ? 'the backend may refuse the certificate of this agent' : 'a port with TLS wants wss://';
    return `the connection was closed without an answer; ${guess}`;
  }
  if (message === GIVEN_UP) return 'the backend did not answer the handshake in time';
  return message;
}

/** A URL as it may be logged: without user, password and query. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
