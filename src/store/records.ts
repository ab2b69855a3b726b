import type { EntityState } from '../resources/entity.ts';
import type { ActorSnapshot } from '../machines/actor-snapshot.ts';
import type { CheckEvent, Event } from '../resources/event.ts';
import { entriesOf } from '../rules/check-history.ts';
import type { CheckState } from '../rules/check-state.ts';

export type { ActorSnapshot };

/** The stored event of one entity and check. */
export interface EventRecord {
  /** Overwrites whatever the event itself says, zeros included. */
  state: CheckState;
  /** The dead man's switch of this check, when one is armed. */
  ttl: ActorSnapshot | undefined;
  /** As it was received; read it through `eventOf`, which applies `state`. */
  event: CheckEvent;
  /** `event` in protobuf, where somebody has it already. */
  encoded?: Buffer | undefined;
}

/** What an entity's agent reports, and where its actor stands. The configuration half is a resource. */
export interface EntityRecord {
  state: EntityState;
  actor: ActorSnapshot;
}

/** An open connection of an agent; one that is still here at start ended with the process. */
export interface SessionRecord {
  namespace: string;
  agentName: string;
  /** Unix milliseconds. */
  openedAtMs: number;
  actor: ActorSnapshot;
}

/** A queue of an agent, and the highest number of it that was decided. */
export interface AgentQueue {
  id: string;
  n: number;
  /** Unix milliseconds. */
  usedAtMs: number;
}

/** A handler that is still to be run with an event. Under a number, in the order of decisions. */
export interface OutboxEntry {
  /** The same for every attempt: a handler that sees it twice has been asked twice for one thing. */
  notificationId: string;
  namespace: string;
  handler: string;
  /** `<namespace>/<entity>/<check>`: entries of one key are handled in order. */
  key: string;
  /** As it is published: merged, with its whole output and its metrics. */
  event: Event;
  decidedAtMs: number;
}

/** What became of a notification. */
export interface Notification {
  id: string;
  handler: string;
  outcome: 'handled' | 'failed' | 'denied' | 'skipped';
  /** Why it was denied, skipped or failed, or what the handler printed (its beginning). */
  reason: string;
  /** Exit status of a command. */
  status: number | undefined;
  decidedAtMs: number;
  atMs: number;
  durationMs: number;
}

/** A configuration object under `<kind>/<namespace>/<name>`, or `<kind>/<name>` where there is no namespace. */
export type ResourceRecord = object;

/** The tables a decision may write, each with text keys. */
export interface Tables {
  events: EventRecord;
  entities: EntityRecord;
  resources: ResourceRecord;
  sessions: SessionRecord;
  /** Under `<namespace>/<agent>`, the queue that was used last in front. */
  agentQueues: AgentQueue[];
  outbox: OutboxEntry;
  /** The latest ones of an event's key. */
  notifications: Notification[];
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
  'meta',
] as const;

/** The event as people see it: what was received, under the fields that the backend owns. */
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
