/** One entry of the ledger. */
export interface LedgerEntry {
  seq: number;
  atMs: number;
  actor: string;
  key: string;
  from: string | null;
  event: string;
  to: string | null;
  cause: Readonly<Record<string, unknown>>;
  guards: readonly { name: string; passed: boolean; inputs: unknown }[];
  details?: Readonly<Record<string, unknown>>;
  configRevision: number;
  prevHash: string;
  hash: string;
}

export interface LedgerPage {
  entries: LedgerEntry[];
}

/** The cause of an entry, in words. */
export function causeText(cause: LedgerEntry['cause']): string {
  const { user, eventId, deadlineAtMs, session, backend, restore } = cause;
  if (typeof user === 'string') return eventId === undefined ? `user ${user}` : `event by user ${user}`;
  if (typeof deadlineAtMs === 'number') return 'deadline reached';
  if (typeof session === 'string') return 'agent session';
  if (typeof backend === 'string') return `backend: ${backend}`;
  if (restore === true) return 'start of the backend';
  return typeof eventId === 'string' ? 'event' : 'unknown';
}
