import { randomUUID } from 'node:crypto';
import type { Event } from '../resources/event.ts';
import { factsOf, type FilterFacts, passesFilters, selectHandlers } from '../rules/handler-selection.ts';
import { eventKey, outboxKey } from '../store/keyspace.ts';
import type { Notification } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { Scope } from './scope.ts';

const OUTBOX_SEQ_KEY = 'outbox-seq';
/** Notifications that are remembered for each event. */
const MAX_REMEMBERED = 20;

/** Where the notifications of an event are kept; metrics without a check have a key of their own. */
export function publishedKey({ entity, check }: Event): string {
  return eventKey(entity?.metadata.namespace ?? '', entity?.metadata.name ?? '', check?.metadata.name ?? '');
}

/** What is published: the event itself is made only when a handler is left to run with it. */
export interface Publication {
  /** As it was received: where it belongs, and the handlers it names. */
  received: Event;
  facts: FilterFacts;
  /** Merged, with its whole output and its metrics. */
  event(): Event;
}

/** An event without a check is handled and never stored. */
export function publishMetrics(scope: Scope, event: Event): void {
  announceProcessed(scope, () => event);
  publishEvent(scope, event);
}

/** What was merged, or has no check; events that only tell of an agent's coming and going are not among them. */
export function announceProcessed(scope: Scope, event: () => Event): void {
  if (scope.settings.announcesEvents) scope.announce({ type: 'event.processed', event: event() });
}

/** Publishes an event that is what handlers get. */
export function publishEvent(scope: Scope, event: Event): void {
  if (event.check === undefined) {
    scope.decision.tally.metricEvents += 1;
    scope.decision.tally.metricPoints += event.metrics?.points?.length ?? 0;
  }
  publish(scope, { received: event, facts: factsOf(event), event: () => event });
}

/**
 * Decides which handlers run with the event, and puts them into the outbox with it. Sets and built-in filters are decided here:
 * only what is left to run costs a write.
 */
export function publish(scope: Scope, { received, facts, event }: Publication): void {
  const { check, metrics, entity } = received;
  if ((check?.handlers.length ?? 0) === 0 && (metrics?.handlers?.length ?? 0) === 0) return;
  const names = [...(check?.handlers ?? []), ...(metrics?.handlers ?? [])];
  const namespace = entity?.metadata.namespace ?? '';
  const { selected } = selectHandlers(names, (name) => readResource(scope.decision, 'handlers', namespace, name));
  for (const [handler, { filters }] of selected) {
    const verdict = passesFilters(filters ?? [], facts);
    if (verdict.passes) send(scope, namespace, handler, event());
    else if (verdict.reason !== 'denied') skip(scope, handler, received, `${verdict.reason}: ${verdict.filter}`);
  }
}

function send(scope: Scope, namespace: string, handler: string, event: Event): void {
  const seq = ((scope.get('meta', OUTBOX_SEQ_KEY) as number | undefined) ?? 0) + 1;
  const key = publishedKey(event);
  scope.put('meta', OUTBOX_SEQ_KEY, seq);
  const notificationId = randomUUID();
  scope.put('outbox', outboxKey(seq), { notificationId, namespace, handler, key, event, decidedAtMs: scope.nowMs });
  scope.announce({ type: 'outbox.filled', outboxKey: outboxKey(seq), key });
}

/** What was not handled and should have been is on record; what a filter of the operator denied is not news. */
function skip(scope: Scope, handler: string, event: Event, reason: string): void {
  remember(scope, publishedKey(event), {
    id: randomUUID(),
    handler,
    outcome: 'skipped',
    reason,
    status: undefined,
    decidedAtMs: scope.nowMs,
    atMs: scope.nowMs,
    durationMs: 0,
  });
}

/** Keeps the latest notifications of an event's key. */
function remember(scope: Scope, key: string, notification: Notification): void {
  const before = scope.get('notifications', key) ?? [];
  scope.put('notifications', key, [...before, notification].slice(-MAX_REMEMBERED));
}

/** An entry of the outbox is done with: its outcome is remembered, and it is not run again. */
export function settle(scope: Scope, outboxKeyOfEntry: string, key: string, notification: Notification): void {
  scope.delete('outbox', outboxKeyOfEntry);
  remember(scope, key, notification);
}
