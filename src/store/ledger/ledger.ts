import { hash } from 'node:crypto';
import { boundedDetails, boundedMembers } from './bounded-details.ts';
import type { LedgerActor } from './ledger-actors.ts';

/** An action of the backend itself. An entry has it as its cause when nothing from outside led to it. */
export type BackendCause =
  /** The process ran again after it was stopped, suspended or stuck. */
  | 'process.resumed'
  /** The queues that had made the readers pause had room again. */
  | 'queues.drained'
  /** A failing store accepted a write. */
  | 'store.probed'
  /** The wall clock was set. */
  | 'clock.set'
  | 'heartbeat.due'
  /** An attempt of a handler ended, or the run of one whose event has no id. */
  | 'handler.ended'
  /** An entry of the outbox was damaged. */
  | 'outbox.read'
  | 'anchor.due'
  | 'retention.due'
  | 'health.queried'
  | 'schedule.queried';

/** An event that a user sent through the API has the user too. `restore` is the start of the backend on an existing store. */
export type LedgerCause =
  | { eventId: string; user?: string }
  | { deadlineAtMs: number }
  | { user: string }
  | { session: string }
  | { backend: BackendCause }
  | { restore: true };

/** The member that a cause of each kind has. The event of a user is of two kinds. */
export const CAUSE_KINDS = {
  event: 'eventId',
  deadline: 'deadlineAtMs',
  user: 'user',
  session: 'session',
  backend: 'backend',
  restore: 'restore',
} as const;
export type CauseKind = keyof typeof CAUSE_KINDS;

export interface GuardRecord {
  name: string;
  passed: boolean;
  /** The values that the guard decided on. */
  inputs: unknown;
}

/** A transition before it has its number and hash. */
export interface LedgerDraft {
  atMs: number;
  actor: LedgerActor;
  key: string;
  /** `null` when the actor or resource did not exist before. */
  from: string | null;
  event: string;
  /** `null` when it does not exist after. */
  to: string | null;
  cause: LedgerCause;
  guards: GuardRecord[];
  /** Blind time, counters, changed fields and other values that a reader needs besides the guards. Never a secret. Long texts and lists are shortened. */
  details?: Record<string, unknown>;
  configRevision: number;
}

export interface LedgerEntry extends Omit<LedgerDraft, 'actor'> {
  /** A `LedgerActor`, or the name that an earlier version used. */
  actor: string;
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

/** SHA-256 of the entry's JSON, with its members in their stored order and `prevHash` included. */
export const hashOf = (entry: UnhashedEntry): string => hash('sha256', JSON.stringify(entry), 'hex');

/** Makes entries of drafts, in the chain that ends with `head`. Each entry has a bounded length. */
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
