/** Why a session ended that neither side meant to end. */
export type SessionError = 'protocol violated' | 'store failed' | 'internal error' | 'write stuck' | 'not opened';

/** What went wrong on connections since the process started, those included that are gone. */
export class SessionCounts {
  /** Check requests that agents did not get because they did not read. */
  droppedRequests = 0;
  readonly errors: Record<SessionError, number> = {
    'protocol violated': 0,
    'store failed': 0,
    'internal error': 0,
    'write stuck': 0,
    'not opened': 0,
  };
  /** Failed reads and writes of sockets, by the code of the error: of Node or of `ws`, so that there are few. */
  readonly reads = new Map<string, number>();
  readonly writes = new Map<string, number>();

  socketFailed(operation: 'reads' | 'writes', error: Error): void {
    const code = 'code' in error ? String(error.code) : 'unknown';
    this[operation].set(code, (this[operation].get(code) ?? 0) + 1);
  }
}
