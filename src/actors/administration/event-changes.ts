import { randomUUID } from 'node:crypto';
import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../../resources/event.ts';
import type { ObjectMeta } from '../../resources/object-meta.ts';
import { isOpen, resultMark } from '../../rules/incident.ts';
import { withoutHistory } from '../../store/records/encoded-event.ts';
import { type EventAddress, entityKey, eventKey } from '../../store/encoding/keyspace.ts';
import { countAsKeepalive } from '../agents/keepalives.ts';
import { leaveAggregates } from '../events/join-aggregates.ts';
import { KEEPALIVE, keyOf, mergeEvent } from '../events/merge-event.ts';
import { publishMetrics } from '../events/publish.ts';
import { putEntityRecord } from '../entities/stored-entities.ts';
import { deleteEvent } from '../events/delete-event.ts';
import { keepRanTicks } from '../ticks/entity-ticks.ts';
import { assertNamespaceExists } from './resource-changes.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** @throws NotFound, AlreadyExists when the check and the entity have an event, EntityLimitReached, EntityFull */
export function createEvent(ctx: DecisionContext, event: Event, user: string): void {
  if (hasCheck(event) && ctx.get('events', storedKey(event)) !== undefined) throw new AlreadyExists();
  putEvent(ctx, event, user);
}

/** Returns the key under which the event is stored, because its check may name another entity. */
function storedKey(event: CheckEvent): string {
  const { entity, check } = event;
  if (check.proxy_entity_name === '') return keyOf(event);
  return eventKey(entity.metadata.namespace ?? '', check.proxy_entity_name, check.metadata.name ?? '');
}

/** Merges the event like one of an agent and records its author. @throws NotFound, EntityLimitReached, EntityFull */
export function putEvent(ctx: DecisionContext, event: Event, user: string): void {
  assertNamespaceExists(ctx, event.entity?.metadata.namespace ?? '');
  if (!hasCheck(event)) {
    publishMetrics(ctx, { ...event, id: event.id ?? randomUUID() });
    return;
  }
  const by = createdBy(event, user);
  if (event.check.metadata.name === KEEPALIVE) countAsKeepalive(ctx, by);
  const cause = event.id === null ? { user } : { eventId: event.id, user };
  mergeEvent(ctx, by, { trustsSentHistory: false, sent: { atMostBytes: undefined }, cause });
}

/** Deleting a keepalive ends the monitoring of its entity until the next keepalive. @throws NotFound */
export function deleteStoredEvent(ctx: DecisionContext, { namespace, entity, check }: EventAddress): void {
  const key = eventKey(namespace, entity, check);
  if (ctx.get('events', key) === undefined) throw new NotFound('not found');
  keepRanTicks(ctx, key);
  deleteEvent(ctx, key, 'event.deleted');
  if (check === KEEPALIVE) endMonitoring(ctx, entityKey(namespace, entity));
}

/** The results of a check of a namespace, by the keys of their events. */
export interface ResultsOfCheck {
  namespace: string;
  check: string;
  keys: readonly string[];
}

/** Deletes results with their events. An open event stays, and its incident continues with the next result. */
export function deleteResults(ctx: DecisionContext, { namespace, check, keys }: ResultsOfCheck): void {
  let open = 0;
  for (const key of keys) {
    const record = ctx.get('events', key);
    if (record === undefined) continue;
    if (!isOpen(record.event.check.status, record.state.state)) {
      deleteEvent(ctx, key, 'event.deleted');
      continue;
    }
    const incident = ctx.get('incidents', key);
    // An event that a quarantined check has not merged has none.
    if (incident === undefined) continue;
    open += 1;
    leaveAggregates(ctx, key, record);
    ctx.put('events', key, withoutHistory(record));
    ctx.put('incidents', key, { ...incident, deletedResult: resultMark(record.event) });
  }
  if (open === 0) return;
  const details = { openEvents: open };
  ctx.record({
    actor: 'checks',
    key: `${namespace}/${check}`,
    from: null,
    event: 'results.deleted',
    to: null,
    details,
  });
}

/** Sets the author, an id and the namespace. */
function createdBy(event: CheckEvent, user: string): CheckEvent {
  const { entity, check, metadata, id } = event;
  const by = <T extends { metadata: ObjectMeta }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, created_by: user },
  });
  return {
    ...event,
    id: id ?? randomUUID(),
    entity: by(entity),
    check: by(check),
    metadata: { ...metadata, created_by: user, namespace: entity.metadata.namespace },
  };
}

function endMonitoring(ctx: DecisionContext, key: string): void {
  const record = ctx.get('entities', key);
  if (record === undefined || ctx.isQuarantined('entity', key)) return;
  const sent = ctx.send('entity', key, { type: 'keepalive.deleted' });
  if (sent?.snapshot !== undefined) putEntityRecord(ctx, key, { ...record, actor: sent.snapshot }, record);
}
