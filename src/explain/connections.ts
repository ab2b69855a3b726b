import { entityKey } from '../store/encoding/keyspace.ts';
import type { ConnectionAt, Excerpt } from './explanation.ts';
import { entriesUpTo, type LedgerReader } from './key-history.ts';

/** The maximum number of sessions of an agent that are explained, the newest first. */
const MAX_SESSIONS = 5;
/** The maximum number of changes of one connection that are read, the newest first. */
const MAX_CHANGES = 20;

/** Finds the sessions of an agent that were open within a time, newest first. */
export async function connectionsOf(
  ledger: LedgerReader,
  { namespace, entity }: { namespace: string; entity: string },
  fromMs: number,
  atMs: number,
): Promise<Excerpt<ConnectionAt>> {
  const moment = { actor: 'agent-session', key: entityKey(namespace, entity), untilMs: atMs };
  const { entries, hasMore } = await entriesUpTo(ledger, moment, { limit: MAX_SESSIONS });
  const items: ConnectionAt[] = [];
  for (const { details, atMs: openedAtMs } of entries) {
    const session = String(details?.['session']);
    const connection = await connectionAt(ledger, session, openedAtMs, atMs);
    // The newest one is included even if it ended before: it shows since when the agent has not been connected.
    if (items.length === 0 || (connection.closedAtMs ?? Infinity) >= fromMs) items.push(connection);
  }
  return { items, hasMore };
}

async function connectionAt(
  ledger: LedgerReader,
  session: string,
  openedAtMs: number,
  atMs: number,
): Promise<ConnectionAt> {
  const moment = { actor: 'connection', key: session, untilMs: atMs };
  const { entries } = await entriesUpTo(ledger, moment, { limit: MAX_CHANGES });
  const [last] = entries;
  const state = last?.to ?? 'deregistered';
  // A connection is over when its close begins: from then on nothing is received.
  const firstOpen = entries.findIndex(({ to }) => to !== 'deregistered' && to !== 'critical');
  const closing = firstOpen === 0 ? undefined : entries[firstOpen === -1 ? entries.length - 1 : firstOpen - 1];
  return { session, openedAtMs, closedAtMs: closing?.atMs, closedBy: closing?.event, state };
}
