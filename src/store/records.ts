import type { EntityState } from '../resources/entity.ts';
import type { ActorSnapshot } from '../machines/actor-snapshot.ts';
import type { CheckEvent, Event } from '../resources/event.ts';
import { entriesOf } from '../rules/check-history.ts';
import type { CheckState } from '../rules/check-state.ts';
import type { LedgerCause } from './ledger.ts';

export type { ActorSnapshot };

/** The stored event of one entity and check. */
export interface EventRecord {
  /** The fields that the backend owns. They replace those of the event, zeros included. */
  state: CheckState;
  /** The check TTL, when it is armed. */
  ttl: ActorSnapshot | undefined;
  /** As it was received; read it through `eventOf`, which applies `state`. */
  event: CheckEvent;
  /** `event` in protobuf, where it is available. */
  encoded?: Buffer | undefined;
}

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
  /** `<namespace>/<entity>/<check>`: entries of one key are handled in order. */
  key: string;
  /** The published event: merged, with its whole output and its metrics. */
  event: Event;
  decidedAtMs: number;
}

/** The outcome of a notification. */
export interface Notification {
  id: string;
  handler: string;
  outcome: 'handled' | 'failed' | 'denied' | 'skipped';
  /** Why it was denied, skipped or failed, or the beginning of the handler's output. */
  reason: string;
  /** Exit status of a command. */
  status: number | undefined;
  decidedAtMs: number;
  atMs: number;
  durationMs: number;
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
  /** The latest notifications of an event's key. */
  notifications: Notification[];
  deletions: PendingDeletion;
  renewals: Renewal;
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
  'notifications',
  'deletions',
  'renewals',
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
