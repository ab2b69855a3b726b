import type { Log } from '../ports/log.ts';
import type { EntityConfig, System } from '../resources/entity.ts';
import type { SilenceRecord } from '../resources/silenced.ts';
import { afterPrefix, keyAfter, resourceKey } from '../store/encoding/keyspace.ts';
import { entityGroup, eventGroup, type GroupCounts, silenceGroup } from '../store/commit/object-groups.ts';
import { visible } from '../store/records/pending-deletions.ts';
import type { EntityRecord, TableName, Tables } from '../store/records/records.ts';
import { CorruptRecord } from '../store/encoding/sealed.ts';
import { storedEvent } from '../store/commit/stored-event.ts';
import type { RangeReader, TransactionalStore } from '../store/commit/transactional-store.ts';
import type { Aggregates } from './aggregates/aggregates.ts';
import type { AgentPort } from './agents/agent-port.ts';
import type { BlindTime } from './time/blind-time.ts';
import { ttlDeadline } from './events/ttl-deadline.ts';
import type { DeadlineQueue, StoredDeadline } from './time/deadline-queue.ts';
import { keepaliveDeadline } from './agents/keepalives.ts';
import type { ActorKinds } from './core/actor-kind.ts';
import { describeOwnEntity, ensureOwnEntity, labelOwnEntity, type OwnMetadata } from './supervision/own-entity.ts';
import { recordBlindInterval, storeBlindTime } from './supervision/stored-blind-time.ts';
import { storeLead } from './ticks/outages.ts';
import { missedTicksResult } from './supervision/missed-ticks-event.ts';
import { restoreOwnEvent } from './supervision/own-event.ts';
import { quarantineResult } from './supervision/quarantine-event.ts';
import { reportSetAside } from './supervision/set-aside-records.ts';
import { scheduleInput } from './schedules/schedules.ts';
import type { DecisionContext } from './core/decision-context.ts';
import { SILENCE, silenceDeadline } from './events/silences.ts';

/** Above every name. */
const END = '~';
const SILENCES = 'silenced/';

/** Receives what is stored at the start. */
export interface StoredObjectsPorts {
  deadlineQueue: DeadlineQueue;
  blind: BlindTime;
  /** The number of stored objects in each group. */
  groups: GroupCounts;
  aggregates: Pick<Aggregates, 'load'>;
  log: Log;
}

/**
 * Arms every stored deadline without waking an actor, drops the blind intervals that no deadline counts from any more, and counts
 * the stored objects and fills the aggregates. Objects that a pending deletion hides are counted too, until the step that deletes them.
 */
export function readStoredObjects(
  store: RangeReader & Pick<TransactionalStore, 'keptOfEvent'>,
  { deadlineQueue, blind, groups, aggregates, log }: StoredObjectsPorts,
): void {
  const arm = (actor: string, key: string, deadline: StoredDeadline | undefined): void => {
    if (deadline !== undefined) deadlineQueue.set(actor, key, deadline.atMs, deadline.sinceMs, deadline.repeat);
  };
  for (const key of store.keys('entities', { from: '', to: END })) {
    const record = readable(() => store.get('entities', key), log);
    if (record === undefined) continue;
    arm('entity', key, keepaliveDeadline(record.actor));
    groups.move('entities', undefined, storedEntityGroup(store, key, record, log));
  }
  const [pending] = store.keys('deletions', { from: '', to: END, limit: 1 });
  const hasDeletions = pending !== undefined;
  for (const key of store.keys('events', { from: '', to: END })) {
    const record = readable(() => storedEvent(store, key), log);
    if (record === undefined) continue;
    groups.move('events', undefined, eventGroup(namespaceOf(key), record));
    const shown = hasDeletions ? visible(store, 'events', key, record) : record;
    if (shown?.ttl !== undefined) arm('check-ttl', key, ttlDeadline(shown.ttl));
    if (shown?.aggregates !== undefined) aggregates.load(key, shown.aggregates, record.state.history);
  }
  for (const key of store.keys('resources', { from: SILENCES, to: afterPrefix(SILENCES) })) {
    const record = readable(() => store.get('resources', key) as SilenceRecord | undefined, log);
    if (record === undefined) continue;
    groups.move('silences', undefined, silenceGroup(record));
    const isVisible = visible(store, 'resources', key, record) !== undefined;
    if (isVisible) arm(SILENCE, key.slice(SILENCES.length), silenceDeadline(record));
  }
  blind.keepFirstAfter(deadlineQueue.inputsAtMs());
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

function storedEntityGroup(store: RangeReader, key: string, record: EntityRecord, log: Log): string {
  const [namespace, name] = [namespaceOf(key), key.slice(key.indexOf('/') + 1)];
  const config = readable(() => readOnce(store, 'resources', resourceKey('entities', namespace, name)), log);
  const { entity_class: entityClass = '' } = (config ?? {}) as Partial<EntityConfig>;
  return entityGroup(namespace, entityClass, record);
}

/** Reads a record that is not needed again, without filling the caches of the store. */
function readOnce<T extends TableName>(store: RangeReader, table: T, key: string): Tables[T] | undefined {
  const [found] = store.range(table, { from: key, to: keyAfter(key), limit: 1 });
  return found?.value;
}

/** A damaged record does not keep the backend from starting: it is left out, and the error log calls for action. */
function readable<T>(read: () => T, log: Log): T | undefined {
  try {
    return read();
  } catch (err) {
    if (!(err instanceof CorruptRecord)) throw err;
    log.error({ err }, 'record is damaged and not monitored');
    return undefined;
  }
}

export interface TakeOverPorts {
  blind: BlindTime;
  kinds: ActorKinds;
  agents: AgentPort;
  backendName: string;
  /** The machine that the backend runs on; undefined when unknown. */
  machine?: System | undefined;
  ownMetadata?: OwnMetadata | undefined;
  log: Log;
}

/** The first decision of a process: it updates the backend's own entity, starts the schedules, and ends the sessions that the former process left open. */
export function takeOver(
  ctx: DecisionContext,
  { blind, kinds, agents, backendName, machine, ownMetadata, log }: TakeOverPorts,
): void {
  storeBlindTime(ctx, blind);
  const down = blind.intervals.at(-1);
  if (down !== undefined) recordBlindInterval(ctx, backendName, 'process.started', down);
  storeLead(ctx);
  readable(() => {
    ensureOwnEntity(ctx, backendName);
    if (machine !== undefined) describeOwnEntity(ctx, backendName, machine);
    if (ownMetadata !== undefined) labelOwnEntity(ctx, backendName, ownMetadata);
  }, log);
  for (const key of ctx.decision.keys('sessions', '')) {
    readable(() => {
      agents.closeForgotten(ctx, key);
    }, log);
  }
  for (const key of ctx.decision.keys('resources', 'checks/')) {
    const check = key.slice('checks/'.length);
    readable(() => {
      const input = scheduleInput(ctx.decision, check, ctx.nowMs);
      // Schedules are awake already when this decision was lost before.
      if (input !== undefined && !kinds['check-schedule'].isAwake(check)) kinds['check-schedule'].create(check, input);
    }, log);
  }
  for (const none of [quarantineResult([]), missedTicksResult([])]) {
    // The conditions that the former process reported ended with it.
    readable(() => {
      restoreOwnEvent(ctx, backendName, none);
    }, log);
  }
  readable(() => {
    reportSetAside(ctx, backendName);
  }, log);
}
