import type { EventAddress } from '../store/encoding/keyspace.ts';
import type { LedgerCause } from '../store/ledger/ledger.ts';
import type { Notification } from '../store/records/records.ts';
import type { CheckStateName } from '../rules/check-state.ts';
import type { TickOutcome } from '../rules/tick-streaks.ts';

/** A change of a check, as the ledger records it. */
export interface RecordedChange {
  /** The number of the ledger entry. */
  seq: number;
  atMs: number;
  /** `result.received`, or why the event was deleted. */
  event: string;
  /** Undefined when the event was deleted. */
  state: CheckStateName | undefined;
  /** Whether no event was stored before. */
  isFirst: boolean;
  status: number | undefined;
  previousStatus: number | undefined;
  /** How many results in a row have had the status. */
  occurrences: number | undefined;
  /** How many results in a row had the previous status. */
  previousOccurrences: number | undefined;
  /** The redacted beginning of the output. */
  output: string;
  /** The names of the silences that applied. */
  silenced: readonly string[];
  cause: LedgerCause;
  /** Set for an alert of the backend about something that was missing. */
  overdue: { sinceMs: number; limitMs: number; blindMs: number | undefined } | undefined;
}

/**
 * The recorded state at a moment. `unrecorded`: the event existed before the record begins. `absent`: no event was
 * stored yet. `deleted`: the event was deleted.
 */
export type StateAt =
  | { kind: 'unrecorded' | 'absent'; beginsAtMs: number }
  | { kind: 'deleted'; change: RecordedChange; nextAtMs: number | undefined }
  | RecordedState;

export interface RecordedState {
  kind: 'recorded';
  state: CheckStateName;
  status: number;
  /** The change that was the last one. */
  change: RecordedChange;
  /** The change that led to the status. */
  begin: RecordedChange;
  /** The change that began the problem; undefined while the status is 0. */
  problem: RecordedChange | undefined;
  /** Whether `begin` and `problem` may be later than the actual changes, because not all changes were read. */
  isCut: boolean;
  /** How many results in a row had the status: at least, and at most where it is known. */
  occurrences: { least: number; most: number | undefined };
  /** The next change after the moment. */
  next: RecordedChange | undefined;
}

/** The next deadline of something that is monitored. */
export interface Due {
  what: 'result' | 'keepalive';
  sinceMs: number;
  limitMs: number;
}

/** A silence that applied to the last change. */
export interface SilenceAt {
  name: string;
  creator: string | undefined;
  reason: string | undefined;
  /** Its first and its last second, Unix seconds; 0 = no end. Undefined when the record does not have it. */
  beginS: number | undefined;
  expireAtS: number | undefined;
  /** How it ended; absent if it had not ended by the moment. */
  ended: { atMs: number; event: string; cause: LedgerCause } | undefined;
}

/** An outcome of a handler, as it was known at the moment. */
export interface HandlerOutcome {
  notification: Notification;
  /** Whether the outcome was recorded only after the moment. */
  isLater: boolean;
}

/** A connection of the agent of the entity. */
export interface ConnectionAt {
  session: string;
  openedAtMs: number;
  /** Undefined while it was open. */
  closedAtMs: number | undefined;
  /** The event that closed it. */
  closedBy: string | undefined;
  state: string;
}

export interface BlindIntervalAt {
  beginMs: number;
  endMs: number;
  /** The reason for its end. */
  event: string;
}

/** Consecutive ticks with the same outcome. */
export interface TickRun {
  outcome: TickOutcome;
  reason: string | undefined;
  fromMs: number;
  toMs: number;
  /** Undefined when the ticks are not counted. */
  count: number | undefined;
}

/** A list that may be longer than what was read. */
export interface Excerpt<T> {
  items: readonly T[];
  hasMore: boolean;
}

export interface Watching {
  /** The time that the other members cover, up to the moment. */
  fromMs: number;
  connections: Excerpt<ConnectionAt>;
  blind: Excerpt<BlindIntervalAt>;
  /** Undefined when there is no record of ticks of the check. */
  ticks: Excerpt<TickRun> | undefined;
  /** The first tick that was due before the moment and has no record yet, as after a start of the backend. */
  unrecordedSinceMs: number | undefined;
}

/** Everything that is on record about an event at one moment. */
export interface Explanation extends EventAddress {
  /** Whether the entity has no agent. */
  isProxy: boolean;
  atMs: number;
  /** Whether the moment is before the present. */
  isPast: boolean;
  state: StateAt;
  /** The last changes up to the moment, newest first. */
  changes: Excerpt<RecordedChange>;
  due: Due | undefined;
  silences: Excerpt<SilenceAt>;
  /** The handler whose outcomes are explained; undefined for all. */
  asked: { handler: string; exists: boolean } | undefined;
  /** Newest first, one or several for each handler. */
  handlers: Excerpt<HandlerOutcome>;
  watching: Watching;
}
