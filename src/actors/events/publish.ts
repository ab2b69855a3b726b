import { randomUUID } from 'node:crypto';
import type { Event } from '../../resources/event.ts';
import {
  denialOf,
  filterInputOf,
  type FilterInput,
  isIncident,
  passesFilters,
  selectHandlers,
  TOO_MANY_NAMES,
} from '../../rules/handler-selection.ts';
import { eventKey, outboxKey } from '../../store/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { jsonBytes } from '../../wire/json-parts.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { OUTBOX_FULL } from '../core/outbox-full.ts';
import { recordDenied, recordRunAhead, recordSkipped } from './notification-records.ts';

const OUTBOX_SEQ_KEY = 'outbox-seq';
/** The pipelines of an event for which the backend records that they are not run. */
const MAX_PIPELINES = 20;
/** The maximum bytes of one event in the outbox, for all its handlers together. */
const MAX_PUBLISHED_BYTES = 256 * 1024 * 1024;
const NOT_RUN_YET = 'pipelines are not run yet';
const TOO_MANY_BYTES = `the handlers of one event may take at most ${MAX_PUBLISHED_BYTES} bytes of it together`;

/** Returns the key of the notifications of an event. Metrics without a check have a key of their own. */
export function publishedKey({ entity, check }: Event): string {
  return eventKey(entity?.metadata.namespace ?? '', entity?.metadata.name ?? '', check?.metadata.name ?? '');
}

/** An event to publish. The event itself is built only when a handler runs with it. */
export interface Publication {
  /** The event as received, with its key and the names of its handlers. */
  received: Event;
  filterInput: FilterInput;
  /** Whether the event repeats the previous one; its handlers are then skipped when the outbox is full. */
  givesWay?: boolean;
  /** Builds the merged event, with its whole output and its metrics. */
  event(): Event;
}

/** Publishes an event without a check, which is handled and not stored. */
export function publishMetrics(ctx: DecisionContext, event: Event): void {
  announceProcessed(ctx, () => event);
  publishEvent(ctx, event);
}

/** Announces an event that was merged or has no check. Events about agents that connect or leave are not announced. */
export function announceProcessed(ctx: DecisionContext, event: () => Event): void {
  if (ctx.settings.announcesEvents) ctx.announce({ type: 'event.processed', event: event() });
}

/** Publishes an event unchanged. */
export function publishEvent(ctx: DecisionContext, event: Event): void {
  if (event.check === undefined) {
    ctx.decision.tally.metricEvents += 1;
    ctx.decision.tally.metricPoints += event.metrics?.points?.length ?? 0;
  }
  publish(ctx, { received: event, filterInput: filterInputOf(event), event: () => event });
}

/** Records that the pipelines of the event are not run. */
function skipPipelines(ctx: DecisionContext, event: Event): void {
  const names = new Set((event.pipelines ?? []).slice(0, MAX_PIPELINES).map(({ name }) => `core/v2.Pipeline.${name}`));
  for (const name of names) skip(ctx, name, event, NOT_RUN_YET);
}

/**
 * Selects the handlers of the event and adds the event to the outbox for each. It resolves sets and applies built-in filters
 * first, so that only handlers that will run cost a write.
 */
export function publish(ctx: DecisionContext, { received, filterInput, givesWay = false, event }: Publication): void {
  const { check, metrics, entity } = received;
  skipPipelines(ctx, received);
  if ((check?.handlers.length ?? 0) === 0 && (metrics?.handlers?.length ?? 0) === 0) return;
  const names = [...(check?.handlers ?? []), ...(metrics?.handlers ?? [])];
  const namespace = entity?.metadata.namespace ?? '';
  const lookUp = (name: string) => readResource(ctx.decision, 'handlers', namespace, name);
  const isStored = (name: string) => readResource(ctx.decision, 'filters', namespace, name) !== undefined;
  const key = publishedKey(received);
  const { selected, unselected } = selectHandlers(names, lookUp);
  const isRefused = givesWay && ctx.isOutboxFull;
  let published: Published | undefined;
  let leftBytes = MAX_PUBLISHED_BYTES;
  for (const [handler, { filters }] of selected) {
    const result = passesFilters(filters ?? [], filterInput, isStored);
    if (result.passes && isRefused) {
      skip(ctx, handler, received, OUTBOX_FULL);
    } else if (result.passes) {
      published ??= measured(event());
      leftBytes -= published.bytes;
      if (leftBytes >= 0) send(ctx, namespace, handler, published);
      else skip(ctx, handler, received, TOO_MANY_BYTES);
    } else if (result.reason === 'denied') {
      recordDenied(ctx, key, { handler }, denialOf(result.filter, filterInput));
    } else skip(ctx, handler, received, `${result.reason}: ${result.filter}`);
  }
  for (const { name, reason } of unselected) {
    if (reason === TOO_MANY_NAMES || isIncident(filterInput)) skip(ctx, name, received, reason);
    else recordSkipped(ctx, key, { handler: name }, reason);
  }
}

interface Published {
  event: Event;
  bytes: number;
}

const measured = (event: Event): Published => ({ event, bytes: publishedBytes(event) });

/** Returns the size of an outbox entry, as counted against the bound of the outbox. */
export const publishedBytes = (event: Event): number => jsonBytes(event);

function send(ctx: DecisionContext, namespace: string, handler: string, { event, bytes }: Published): void {
  const seq = ((ctx.get('meta', OUTBOX_SEQ_KEY) as number | undefined) ?? 0) + 1;
  const key = publishedKey(event);
  ctx.put('meta', OUTBOX_SEQ_KEY, seq);
  const notificationId = randomUUID();
  recordRunAhead(ctx, key, { handler });
  ctx.put('outbox', outboxKey(seq), { notificationId, namespace, handler, key, event, decidedAtMs: ctx.nowMs });
  ctx.announce({ type: 'outbox.filled', outboxKey: outboxKey(seq), key, namespace, handler, bytes });
}

/** Records and announces a handler that was not run although it should have been. */
function skip(ctx: DecisionContext, handler: string, event: Event, reason: string): void {
  const key = publishedKey(event);
  recordSkipped(ctx, key, { handler }, reason);
  const namespace = event.entity?.metadata.namespace ?? '';
  ctx.announce({ type: 'handler.skipped', namespace, handler, key, reason });
}
