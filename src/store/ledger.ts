import { hash } from 'node:crypto';
import { boundedDetails, boundedMembers } from './bounded-details.ts';

/** An event that came through the API has a user as well. */
export type LedgerCause =
  | { eventId: string; user?: string }
  | { deadlineAtMs: number }
  | { user: string }
  | { session: string }
  | { restore: true };

export interface GuardRecord {
  name: string;
  passed: boolean;
  /** The numbers that decided it. */
  inputs: unknown;
}

/** A transition before its place in the chain is known. */
export interface LedgerDraft {
  atMs: number;
  /** What kind of thing changed: entity, check-ttl, connection, check-state, silence, quarantine, ledger or a resource kind. */
  actor: string;
  key: string;
  /** `null` where there was nothing before. */
  from: string | null;
  event: string;
  /** `null` where there is nothing after. */
  to: string | null;
  cause: LedgerCause;
  guards: GuardRecord[];
  /** Numbers of blind time, counters, changed fields: what a reader needs besides the guards. Never a secret; long texts and lists are cut. */
  details?: Record<string, unknown>;
  configRevision: number;
}

export interface LedgerEntry extends LedgerDraft {
  seq: number;
  prevHash: string;
  hash: string;
}

export interface LedgerHead {
  seq: number;
  hash: string;
}

export const GENESIS: LedgerHead = { seq: 0, hash: '0'.repeat(64) };

type UnhashedEntry = Omit<LedgerEntry, 'hash'>;

/** SHA-256 over the entry's JSON in its order of writing, `prevHash` included. */
const hashOf = (entry: UnhashedEntry): string => hash('sha256', JSON.stringify(entry), 'hex');

/** Puts drafts at the end of the chain that ends with `head`, each of a bounded length. */
export function chain(drafts: readonly LedgerDraft[], head: LedgerHead): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  let { seq, hash: prevHash } = head;
  for (const draft of drafts) {
    const { atMs, actor, key, from, event, to, cause, guards, details, configRevision } = draft;
    seq += 1;
    const entry: UnhashedEntry = {
      seq,
      atMs,
      actor,
      key,
      from,
      event,
      to,
      cause,
      guards: guards.map((guard) => ({ ...guard, inputs: boundedDetails(guard.inputs) })),
      ...(details === undefined ? {} : { details: boundedMembers(details) }),
      configRevision,
      prevHash,
    };
    prevHash = hashOf(entry);
    entries.push({ ...entry, hash: prevHash });
  }
  return entries;
}

/** What `verify` says of a ledger: sound, or where and how it is broken. */
export type Verdict = { ok: true; head: LedgerHead } | { ok: false; seq: number; reason: string };

/**
 * Walks the chain from its beginning. `entries` yields what is stored under each number, or the error of reading it. An `anchor`
 * from elsewhere shows what a chain alone cannot: that its end was cut off, or all of it written anew.
 */
export function verify(
  entries: Iterable<{ seq: number; entry: LedgerEntry | Error }>,
  anchor: LedgerHead = GENESIS,
): Verdict {
  let head = GENESIS;
  for (const { seq, entry } of entries) {
    const expected = head.seq + 1;
    if (seq !== expected) return { ok: false, seq: expected, reason: `entry ${expected} is missing` };
    if (entry instanceof Error) return { ok: false, seq, reason: entry.message };
    const { hash: stored, ...rest } = entry;
    if (rest.seq !== seq) return { ok: false, seq, reason: `entry says it is number ${rest.seq}` };
    if (rest.prevHash !== head.hash) return { ok: false, seq, reason: 'previous hash does not match' };
    if (hashOf(rest) !== stored) return { ok: false, seq, reason: 'hash does not match the entry' };
    if (seq === anchor.seq && stored !== anchor.hash)
      return { ok: false, seq, reason: 'hash does not match the anchor' };
    head = { seq, hash: stored };
  }
  if (head.seq < anchor.seq) {
    return { ok: false, seq: head.seq + 1, reason: `the ledger ends before the anchored entry ${anchor.seq}` };
  }
  return { ok: true, head };
}
