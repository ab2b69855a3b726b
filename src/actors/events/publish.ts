import { randomUUID } from 'node:crypto';
import type { Event } from '../../resources/event.ts';
import {
  factsOf,
  type FilterFacts,
  passesFilters,
  selectHandlers,
  TOO_MANY_NAMES,
} from '../../rules/handler-selection.ts';
import { eventKey, outboxKey } from '../../store/keyspace.ts';
import type { Notification } from '../../store/records.ts';
import { readResource } from '../../store/resource-store.ts';
import { encodeJson } from '../../wire/json-codec.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { OUTBOX_FULL } from '../core/outbox-full.ts';

const OUTBOX_SEQ_KEY = 'outbox-seq';
/** Notifications that are remembered for each event. */
const MAX_REMEMBERED = 20;
/** What all handlers of one event may hold of it in the outbox together. */
const MAX_PUBLISHED_BYTES = 256 * 1024 * 1024;
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
export function publishMetrics(ctx: DecisionContext, event: Event): void {
  announceProcessed(ctx, () => event);
  publishEvent(ctx, event);
}

/** What was merged, or has no check; events that only tell of an agent's coming and going are not among them. */
export function announceProcessed(ctx: DecisionContext, event: () => Event): void {
  if (ctx.settings.announcesEvents) ctx.announce({ type: 'event.processed', event: event() });
}

/** Publishes an event that is what handlers get. */
export function publishEvent(ctx: DecisionContext, event: Event): void {
  if (event.check === undefined) {
    ctx.decision.tally.metricEvents += 1;
    ctx.decision.tally.metricPoints += event.metrics?.points?.length ?? 0;
  }
  publish(ctx, { received: event, facts: factsOf(event), event: () => event });
}

/**
 * Decides which handlers run with the event, and puts them into the outbox with it. Sets and built-in filters are decided here:
 * only what is left to run costs a write.
 */
export function publish(ctx: DecisionContext, { received, facts, givesWay = false, event }: Publication): void {
  const { check, metrics, entity } = received;
  if ((check?.handlers.length ?? 0) === 0 && (metrics?.handlers?.length ?? 0) === 0) return;
  const names = [...(check?.handlers ?? []), ...(metrics?.handlers ?? [])];
  const namespace = entity?.metadata.namespace ?? '';
  const lookUp = (name: string) => readResource(ctx.decision, 'handlers', namespace, name);
  const { selected, unselected } = selectHandlers(names, lookUp);
  const isRefused = givesWay && ctx.isOutboxFull;
  let published: Published | undefined;
  let leftBytes = MAX_PUBLISHED_BYTES;
  for (const [handler, { filters }] of selected) {
    const verdict = passesFilters(filters ?? [], facts);
    if (verdict.passes && isRefused) {
      skip(ctx, handler, received, OUTBOX_FULL);
    } else if (verdict.passes) {
      published ??= measured(event());
      leftBytes -= published.bytes;
      if (leftBytes >= 0) send(ctx, namespace, handler, published);
      else skip(ctx, handler, received, TOO_MANY_BYTES);
    } else if (verdict.reason !== 'denied') skip(ctx, handler, received, `${verdict.reason}: ${verdict.filter}`);
  }
  for (const { name, reason } of unselected) if (reason === TOO_MANY_NAMES) skip(ctx, name, received, reason);
}

interface Published {
  event: Event;
  bytes: number;
}

const measured = (event: Event): Published => ({ event, bytes: publishedBytes(event) });

/** What an entry of the outbox counts against its bound. */
export const publishedBytes = (event: Event): number => Buffer.byteLength(encodeJson(event));

function send(ctx: DecisionContext, namespace: string, handler: string, { event, bytes }: Published): void {
  const seq = ((ctx.get('meta', OUTBOX_SEQ_KEY) as number | undefined) ?? 0) + 1;
  const key = publishedKey(event);
  ctx.put('meta', OUTBOX_SEQ_KEY, seq);
  const notificationId = randomUUID();
  ctx.put('outbox', outboxKey(seq), { notificationId, namespace, handler, key, event, decidedAtMs: ctx.nowMs });
  ctx.announce({ type: 'outbox.filled', outboxKey: outboxKey(seq), key, namespace, handler, bytes });
}

/** What was not handled and should have been is on record; what a filter of the operator denied is not news. */
function skip(ctx: DecisionContext, handler: string, event: Event, reason: string): void {
  remember(ctx, publishedKey(event), {
    id: randomUUID(),
    handler,
    outcome: 'skipped',
    reason,
    status: undefined,
    decidedAtMs: ctx.nowMs,
    atMs: ctx.nowMs,
    durationMs: 0,
  });
}

/** Keeps the latest notifications of an event's key. */
function remember(ctx: DecisionContext, key: string, notification: Notification): void {
  const before = ctx.get('notifications', key) ?? [];
  ctx.put('notifications', key, [...before, notification].slice(-MAX_REMEMBERED));
}

/** An entry of the outbox is done with: its outcome is remembered, and it is not run again. */
export function settle(ctx: DecisionContext, outboxKeyOfEntry: string, key: string, notification: Notification): void {
  ctx.delete('outbox', outboxKeyOfEntry);
  remember(ctx, key, notification);
}
