/** Why a session ended abnormally. */
export type SessionError = 'protocol violated' | 'store failed' | 'internal error' | 'write stuck' | 'not opened';

/** Failures on all connections since the process started, closed ones included. */
export class SessionCounts {
  /** Check requests dropped because agents did not read. */
  droppedRequests = 0;
  readonly errors: Record<SessionError, number> = {
    'protocol violated': 0,
    'store failed': 0,
    'internal error': 0,
    'write stuck': 0,
    'not opened': 0,
  };
  /** Failed socket reads and writes, by error code. Codes come from Node or `ws`, so there are few. */
  readonly reads = new Map<string, number>();
  readonly writes = new Map<string, number>();

  socketFailed(operation: 'reads' | 'writes', error: Error): void {
    const code = 'code' in error ? String(error.code) : 'unknown';
    this[operation].set(code, (this[operation].get(code) ?? 0) + 1);
  }
}
