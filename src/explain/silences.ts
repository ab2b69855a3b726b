import { entityKey } from '../store/encoding/keyspace.ts';
import type { LedgerEntry } from '../store/ledger/ledger.ts';
import type { Excerpt, RecordedChange, SilenceAt } from './explanation.ts';
import { entriesUpTo, type LedgerReader } from './key-history.ts';

/** The actor of silences in the ledger. */
const SILENCE = 'silence';
/** The maximum number of silences of one event that are explained. */
const MAX_SILENCES = 20;
/** Changes of one silence that are read: the last one that applied, and those after it. */
const MAX_CHANGES = 20;

/** Finds the silences that applied to a change of an event, as they were then, and whether they had ended at the moment. */
export async function silencesOf(
  ledger: LedgerReader,
  namespace: string,
  { silenced, seq }: RecordedChange,
  atMs: number,
): Promise<Excerpt<SilenceAt>> {
  const names = silenced.slice(0, MAX_SILENCES);
  const items: SilenceAt[] = [];
  for (const name of names) {
    const moment = { actor: SILENCE, key: entityKey(namespace, name), untilMs: atMs };
    const { entries } = await entriesUpTo(ledger, moment, {
      limit: MAX_CHANGES,
      isEnough: (entry) => entry.seq < seq && entry.to !== null,
    });
    items.push(silenceAt(name, entries, seq));
  }
  return { items, hasMore: silenced.length > names.length };
}

/** `entries` are those up to the moment, newest first. */
function silenceAt(name: string, entries: readonly LedgerEntry[], seq: number): SilenceAt {
  const applied = entries.find((entry) => entry.seq < seq && entry.to !== null);
  const ending = entries.findLast((entry) => entry.seq > seq && entry.to === null);
  const { details = {}, cause } = applied ?? {};
  const written = cause !== undefined && 'user' in cause ? cause.user : undefined;
  return {
    name,
    creator: text(details['creator']) ?? written,
    reason: text(details['reason']),
    beginS: typeof details['begin'] === 'number' ? details['begin'] : undefined,
    expireAtS: typeof details['expire_at'] === 'number' ? details['expire_at'] : undefined,
    ended: ending && { atMs: ending.atMs, event: ending.event, cause: ending.cause },
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
