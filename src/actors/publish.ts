import { randomUUID } from 'node:crypto';
import type { Event } from '../resources/event.ts';
import {
  factsOf,
  type FilterFacts,
  passesFilters,
  selectHandlers,
  TOO_MANY_NAMES,
} from '../rules/handler-selection.ts';
import { eventKey, outboxKey } from '../store/keyspace.ts';
import type { Notification } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import { encodeJson } from '../wire/json-codec.ts';
import type { Scope } from './scope.ts';

const OUTBOX_SEQ_KEY = 'outbox-seq';
/** Notifications that are remembered for each event. */
const MAX_REMEMBERED = 20;
/** What all handlers of one event may hold of it in the outbox together. */
const MAX_PUBLISHED_BYTES = 256 * 1024 * 1024;
/** As the refusal of a change and as the reason of a handler that did not run. */
export const OUTBOX_FULL = 'too many events wait in the outbox for their handlers';
const TOO_MANY_BYTES = `the handlers of one event may take at most ${MAX_PUBLISHED_BYTES} bytes of it together`;

/** Where the notifications of an event are kept; metrics without a check have a key of their own. */
export function publishedKey({ entity, check }: Event): string {
  return eventKey(entity?.metadata.namespace ?? '', entity?.metadata.name ?? '', check?.metadata.name ?? '');
}

/** What is published: the event itself is made only when a handler is left to run with it. */
export interface Publication {
  /** As it was received: where it belongs, and the handlers it names. */
  received: Event;
  facts: FilterFacts;
  /** One that says what the one before it said, and is decided however much waits: its handlers give way when the outbox is full. */
  givesWay?: boolean;
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
export function publish(scope: Scope, { received, facts, givesWay = false, event }: Publication): void {
  const { check, metrics, entity } = received;
  if ((check?.handlers.length ?? 0) === 0 && (metrics?.handlers?.length ?? 0) === 0) return;
  const names = [...(check?.handlers ?? []), ...(metrics?.handlers ?? [])];
  const namespace = entity?.metadata.namespace ?? '';
  const lookUp = (name: string) => readResource(scope.decision, 'handlers', namespace, name);
  const { selected, unselected } = selectHandlers(names, lookUp);
  const isRefused = givesWay && scope.isOutboxFull;
  let published: Published | undefined;
  let leftBytes = MAX_PUBLISHED_BYTES;
  for (const [handler, { filters }] of selected) {
    const verdict = passesFilters(filters ?? [], facts);
    if (verdict.passes && isRefused) {
      skip(scope, handler, received, OUTBOX_FULL);
    } else if (verdict.passes) {
      published ??= measured(event());
      leftBytes -= published.bytes;
      if (leftBytes >= 0) send(scope, namespace, handler, published);
      else skip(scope, handler, received, TOO_MANY_BYTES);
    } else if (verdict.reason !== 'denied') skip(scope, handler, received, `${verdict.reason}: ${verdict.filter}`);
  }
  for (const { name, reason } of unselected) if (reason === TOO_MANY_NAMES) skip(scope, name, received, reason);
}

interface Published {
  event: Event;
  bytes: number;
}

const measured = (event: Event): Published => ({ event, bytes: publishedBytes(event) });

/** What an entry of the outbox counts against its bound. */
export const publishedBytes = (event: Event): number => Buffer.byteLength(encodeJson(event));

function send(scope: Scope, namespace: string, handler: string, { event, bytes }: Published): void {
  const seq = ((scope.get('meta', OUTBOX_SEQ_KEY) as number | undefined) ?? 0) + 1;
  const key = publishedKey(event);
  scope.put('meta', OUTBOX_SEQ_KEY, seq);
  const notificationId = randomUUID();
  scope.put('outbox', outboxKey(seq), { notificationId, namespace, handler, key, event, decidedAtMs: scope.nowMs });
  scope.announce({ type: 'outbox.filled', outboxKey: outboxKey(seq), key, namespace, handler, bytes });
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
