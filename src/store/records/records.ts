import type { AggregateAttributes } from '../../resources/aggregate-attributes.ts';
import type { EntityState } from '../../resources/entity.ts';
import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import type { CheckEvent, Event } from '../../resources/event.ts';
import { entriesOf } from '../../rules/check-history.ts';
import type { CheckState } from '../../rules/check-state.ts';
import type { Incident } from '../../rules/incident.ts';
import type { TickStreak } from '../../rules/tick-streaks.ts';
import type { LedgerCause } from '../ledger/ledger.ts';

export type { ActorSnapshot };

/** The stored event of one entity and check. */
export interface EventRecord {
  /** The fields that the backend owns. They replace those of the event, zeros included. */
  state: CheckState;
  /** The check TTL, when it is armed. */
  ttl: ActorSnapshot | undefined;
  /** The last ticks of the check's schedule that ran on this entity; undefined while none has. */
  ran?: RanTicks | undefined;
  /** The event as it was received; read it through `eventOf`, which applies `state`. */
  event: CheckEvent;
  /** `event` in protobuf, where it is available. */
  encoded?: Buffer | undefined;
  /** The open streaks of the key; `apart` when they are in the table `openStreaks`. */
  streaks?: OpenStreaks | undefined;
  /** The aggregates that the result joined; undefined when it joined none. */
  aggregates?: readonly string[] | undefined;
  /** The attributes in `event` that protobuf cannot represent; undefined when it has none. */
  attributes?: AggregateAttributes | undefined;
}

export type OpenStreaks = readonly OpenStreak[] | 'apart';

/**
 * Equal outcomes in a row of one handler or workflow, none of them a run, with events of one key. Their notification is one
 * record, which counts only the first of them until the streak ends.
 */
export interface OpenStreak {
  /** The number in the key of the notification. */
  number: number;
  handler: string;
  pipeline?: string | undefined;
  workflow?: string | undefined;
  nth?: number | undefined;
  /** How many further handlers the notification lists, if any. */
  others?: number | undefined;
  outcome: StreakOutcome;
  reason: string;
  count: number;
  /** The last of them, Unix ms. */
  atMs: number;
}

/** Ticks at equal distances that ran: the first, the last, and the distance, which is 0 for one tick. Unix ms. */
export type RanTicks = readonly [fromMs: number, toMs: number, everyMs: number];

/** The state that an entity's agent reports, and the snapshot of its actor. The configuration of the entity is a resource. */
export interface EntityRecord {
  state: EntityState;
  actor: ActorSnapshot;
}

/** An open connection of an agent. A record that exists at start is of a connection that ended with the process. */
export interface SessionRecord {
  namespace: string;
  agentName: string;
  /** Unix milliseconds. */
  openedAtMs: number;
  actor: ActorSnapshot;
}

/** A queue of an agent, and its highest number that was decided. */
export interface AgentQueue {
  id: string;
  n: number;
  /** Unix milliseconds. */
  usedAtMs: number;
}

/** A handler that is to be run with an event. Stored under a number, in the order of decisions. */
export interface OutboxEntry {
  /** The same for every attempt, so that a handler recognises a repeated one. */
  notificationId: string;
  namespace: string;
  handler: string;
  /** `<namespace>/<entity>/<check>`: entries of one key and handler are handled in order. */
  key: string;
  /** The published event: merged, with its whole output and its metrics. */
  event: Event;
  decidedAtMs: number;
  /** The pipeline and the workflow that name the handler; absent where the check or the metrics do. */
  pipeline?: string | undefined;
  workflow?: string | undefined;
  /** Its number among the runs with these names, if it is not the first. */
  nth?: number | undefined;
  /** The filters that are still to be evaluated; absent when there are none. */
  filters?: string[] | undefined;
  /** The mutator of the workflow. A handler that a check names has its own. */
  mutator?: string | undefined;
  /** The size of the stored event; not stored itself. */
  readonly eventBytes?: number;
}

/** The attempts of an outbox entry that failed. Stored under the key of the entry. */
export interface Attempts {
  attempts: number;
  /** Unix milliseconds. */
  firstAttemptAtMs: number;
  /** Whether the last one ended before the filters had passed. Earlier versions do not write it. */
  isUnfiltered?: boolean;
}

/** `handled`, `failed` and `timed-out` are outcomes of runs. */
export const OUTCOMES = ['handled', 'failed', 'timed-out', 'denied', 'skipped'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** The outcomes without a run: equal ones in a row are one notification. */
export type StreakOutcome = Extract<Outcome, 'denied' | 'skipped'>;

/** The outcome of one handler or workflow with an event, or with several events in a row. */
export interface Notification {
  /** UUID. A replayed dead letter keeps it. */
  id: string;
  /** Empty for a pipeline that leads to no handler. */
  handler: string;
  pipeline?: string | undefined;
  workflow?: string | undefined;
  /** Its number among the runs of an event with these names, if it is not the first. */
  nth?: number | undefined;
  /** Further handlers that were left out for the same reason. */
  others?: readonly string[] | undefined;
  /** The event, or the first of several. */
  eventId?: string | undefined;
  outcome: Outcome;
  /** Why it was denied, skipped or failed, or the beginning of the handler's output. */
  reason: string;
  /** Exit status of a command. */
  status: number | undefined;
  /** Runs, with those that were tried again. */
  attempts?: number | undefined;
  /** The decision on the first of them, Unix ms. */
  decidedAtMs: number;
  /** The outcome of the last of them, Unix ms. */
  atMs: number;
  durationMs: number;
  /** How many events had this outcome; 1 when absent. */
  count?: number | undefined;
  /** Further equal outcomes are counted in the open streak that has its number. */
  isOpen?: boolean | undefined;
  /** The event is kept in the table `deadLetters`. */
  isDeadLetter?: boolean | undefined;
  /** When the dead letter was put back into the outbox, Unix ms, and by which user. */
  replayedAtMs?: number | undefined;
  replayedBy?: string | undefined;
}

/** Why the items of a deletion end, as the ledger names it. */
export type DeletionEvent = 'event.deleted' | 'entity.deleted' | 'entity.deregistered' | 'check.deleted';

/** The items of a deletion: events, check TTLs under `<namespace>/<check>/<entity>`, or silences under `<namespace>/<name>`. */
export type DeletedKind = 'events' | 'ttls' | 'silences';

/**
 * A deletion that is decided and carried out in steps. Its items are invisible from the decision on. Stored under
 * `<kind>/<prefix>`: it covers the items whose keys begin with the prefix; of silences only those on that subscription.
 */
export interface PendingDeletion {
  /** Increases with each deletion. */
  id: number;
  event: DeletionEvent;
  cause: LedgerCause;
  /** The key of the last item that is deleted; empty before the first step. */
  after: string;
  /** The deletions that this one replaced, oldest first. They end the items that were stored before them. */
  earlier?: EarlierDeletion[];
}

/** Why a deletion that another one replaced ends its items. */
export type EarlierDeletion = Pick<PendingDeletion, 'id' | 'event' | 'cause'>;

/** An item that was written after its deletion was decided, and is visible. Stored under `<kind>/<key of the item>`. */
export interface Renewal {
  /** The id of the latest deletion at that time. */
  id: number;
}

/** The outcomes of ticks; for an agent or the backend, the times without ticks. */
export interface TickRecord {
  streaks: TickStreak[];
  /** The ids of the records with older streaks, oldest first. */
  history: number[];
  /** The next tick of a check, and the schedule that it follows. */
  next?: NextTick | undefined;
  /** Earlier ticks of a check whose outcome is not decided yet. */
  undecided?: number[] | undefined;
  /** Since when an agent has no connection, Unix ms. */
  awaySinceMs?: number | undefined;
}

export interface NextTick {
  /** Unix ms. */
  atMs: number;
  /** Seconds; 0 if there is a cron expression. */
  interval: number;
  cron: string | undefined;
}

/** A configuration object under `<kind>/<namespace>/<name>`, or `<kind>/<name>` for cluster-wide kinds. */
export type ResourceRecord = object;

/** The tables a decision may write, each with text keys. */
export interface Tables {
  events: EventRecord;
  entities: EntityRecord;
  resources: ResourceRecord;
  sessions: SessionRecord;
  /** Under `<namespace>/<agent>`, the most recently used queue first. */
  agentQueues: AgentQueue[];
  outbox: OutboxEntry;
  /** Under the key of the entry. */
  attempts: Attempts;
  /** Under `<namespace>/<number>/<entity>/<check>`: numbers increase with time. */
  notificationLog: Notification;
  /** The keys of the events' notifications: `<namespace>/<entity>/<check>/<number>`. */
  notificationsByEvent: true;
  /** The keys of notifications by their ids. */
  notificationsById: string;
  /** The open streaks of keys without an event, and those that are too many for the record of an event. */
  openStreaks: readonly OpenStreak[];
  /** The entries of runs that ended without success, under `<number>/<id>` of their notification. */
  deadLetters: OutboxEntry;
  deletions: PendingDeletion;
  renewals: Renewal;
  /** Proof of watching. */
  ticks: TickRecord;
  /** The incident of each key whose event is open. */
  incidents: Incident;
  meta: unknown;
}

export type TableName = keyof Tables;
export const TABLE_NAMES = [
  'events',
  'entities',
  'resources',
  'sessions',
  'agentQueues',
  'outbox',
  'attempts',
  'notificationLog',
  'notificationsByEvent',
  'notificationsById',
  'openStreaks',
  'deadLetters',
  'deletions',
  'renewals',
  'ticks',
  'incidents',
  'meta',
] as const;

/** The event as users see it: the received event with the fields that the backend owns. */
export function eventOf({ event, state }: EventRecord): CheckEvent {
  return {
    ...event,
    check: {
      ...event.check,
      history: entriesOf(state.history),
      occurrences: state.occurrences,
      occurrences_watermark: state.occurrencesWatermark,
      state: state.state,
      total_state_change: state.totalStateChange,
      last_ok: state.lastOk,
      silenced: state.silenced.length > 0 ? state.silenced : undefined,
      is_silenced: state.silenced.length > 0,
    },
  };
}
