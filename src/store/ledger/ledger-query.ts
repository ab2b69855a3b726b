import { CAUSE_KINDS, type CauseKind, type LedgerEntry } from './ledger.ts';

/** The conditions of a query, all of which an entry must meet. */
export interface LedgerQuery {
  actor?: string;
  key?: string;
  keyPrefix?: string;
  event?: string;
  /** The state before the transition; `null` = the actor or resource did not exist. */
  from?: string | null;
  /** The state after the transition; `null` = the actor or resource does not exist any more. */
  to?: string | null;
  /** The user in the cause. */
  user?: string;
  /** The kind of the cause. */
  cause?: CauseKind;
  sinceMs?: number;
  untilMs?: number;
  /** Entries after this number. */
  afterSeq?: number;
  limit: number;
}

/** The entries that one step of reading found. */
export interface LedgerSlice {
  /** In order of numbers. */
  entries: LedgerEntry[];
  /** The number after which the next slice begins; undefined when no later entry can match. */
  afterSeq: number | undefined;
}

/** A query of the entries of one key, which are read from the newest one to the oldest. */
export interface KeyQuery {
  actor: string;
  key: string;
  /** Entries at this time or before it, Unix ms. */
  untilMs?: number;
  /** Entries before this number. */
  beforeSeq?: number;
  limit: number;
}

/** The entries that one step of reading found. */
export interface KeySlice {
  /** Newest first, by number. */
  entries: LedgerEntry[];
  /** The number before which the next slice begins; undefined when no earlier entry is left. */
  beforeSeq: number | undefined;
}

/** Whether the entry meets all conditions except `afterSeq`. */
export function matches(entry: LedgerEntry, query: LedgerQuery): boolean {
  const { actor, key, keyPrefix, event, from, to, user, cause, sinceMs = 0, untilMs = Infinity } = query;
  return (
    (actor === undefined || entry.actor === actor) &&
    (key === undefined || entry.key === key) &&
    (keyPrefix === undefined || entry.key.startsWith(keyPrefix)) &&
    (event === undefined || entry.event === event) &&
    (from === undefined || entry.from === from) &&
    (to === undefined || entry.to === to) &&
    (user === undefined || ('user' in entry.cause && entry.cause.user === user)) &&
    (cause === undefined || CAUSE_KINDS[cause] in entry.cause) &&
    entry.atMs >= sinceMs &&
    entry.atMs <= untilMs
  );
}
