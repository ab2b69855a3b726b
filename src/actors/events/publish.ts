import { randomUUID } from 'node:crypto';
import type { Check } from '../../resources/check.ts';
import type { Event } from '../../resources/event.ts';
import { StoredPipelineResources } from '../../pipeline/pipeline-resources.ts';
import { simpleFilters } from '../../pipeline/simple-filters.ts';
import { isHandled } from '../../rules/aggregate-names.ts';
import { filterInputOf, type FilterInput, isIncident } from '../../rules/built-in-filters.ts';
import { NO_HANDLER } from '../../rules/handler-selection.ts';
import { type NamedByEvent, type PlannedRun, planRuns, type RunName } from '../../rules/run-plan.ts';
import { eventKey, namespaceOfKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TableReader } from '../../store/records/table-reader.ts';
import { jsonBytes } from '../../wire/json-parts.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { OUTBOX_FULL } from '../core/outbox-full.ts';
import { addToOutbox } from './add-to-outbox.ts';
import { recordDenied, recordRunAhead, recordSkipped } from './notification-records.ts';
import { changeStreaks, type KeyStreaks } from './open-streaks.ts';

/** The maximum bytes of one event in the outbox, for all its handlers together. */
const MAX_PUBLISHED_BYTES = 256 * 1024 * 1024;
const TOO_MANY_BYTES = `the handlers of one event may take at most ${MAX_PUBLISHED_BYTES} bytes of it together`;

/** Returns the key of the notifications of an event. Metrics without a check have a key of their own. */
export function publishedKey({ entity, check }: Event): string {
  return eventKey(entity?.metadata.namespace ?? '', entity?.metadata.name ?? '', check?.metadata.name ?? '');
}

/** An event to publish. The event itself is built only when a handler runs with it. */
export interface Publication {
  /** The event as received, with its key and the names of its handlers. */
  received: Event;
  /** The handlers and pipelines that the event names. */
  named: NamedByEvent;
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
  const named = namedBy(event, definitionOf(ctx, event));
  if (isEmpty(named)) return;
  changeStreaks(ctx, publishedKey(event), (streaks) => {
    publish(ctx, streaks, { received: event, named, filterInput: filterInputOf(event), event: () => event });
  });
}

/** Returns the stored check that an event names; undefined when there is none. */
export function definitionOf(reader: TableReader, { entity, check }: Event): Check | undefined {
  if (check === undefined) return undefined;
  return readResource(reader, 'checks', entity?.metadata.namespace ?? '', check.metadata.name ?? '');
}

const NO_NAMES: readonly never[] = [];

/** Returns what the event names. The stored check decides as well whether its events are handled. */
export const namedBy = ({ check, metrics, pipelines }: Event, definition: Check | undefined): NamedByEvent => ({
  pipelines: pipelines ?? NO_NAMES,
  handlers:
    metrics === undefined ? (check?.handlers ?? NO_NAMES) : [...(check?.handlers ?? []), ...(metrics.handlers ?? [])],
  isHandled: isHandled(check ?? {}, definition),
});

const isEmpty = ({ pipelines, handlers }: NamedByEvent): boolean => pipelines.length === 0 && handlers.length === 0;

/**
 * Plans the runs of the event, and adds the event to the outbox for each that is open. Filters that need no sandbox are decided
 * first, so that only a handler that may run costs an entry. The outcome of every other run is recorded in `streaks`, those of
 * the key of the event, which the caller stores.
 */
export function publish(
  ctx: DecisionContext,
  streaks: KeyStreaks,
  { received, named, filterInput, givesWay = false, event }: Publication,
): void {
  if (isEmpty(named)) return;
  const namespace = received.entity?.metadata.namespace ?? '';
  const resources = new StoredPipelineResources(ctx.decision, namespace);
  const isRefused = givesWay && ctx.isOutboxFull;
  let built: Event | undefined;
  const whole = (): Event => (built ??= event());
  const { nowMs } = ctx;
  let published: Published | undefined;
  let leftBytes = MAX_PUBLISHED_BYTES;
  const plan = { resources, nowMs, decideSimply: simpleFilters(whole, nowMs) };
  for (const run of planRuns(named, filterInput, plan)) {
    if (run.outcome === 'denied') {
      recordDenied(ctx, streaks, run, run.reason);
    } else if (run.outcome === 'skipped') {
      if (run.reason === NO_HANDLER && !isIncident(filterInput)) recordSkipped(ctx, streaks, run, run.reason);
      else skip(ctx, streaks, run, run.reason);
    } else if (isRefused) {
      skip(ctx, streaks, run, OUTBOX_FULL);
    } else {
      published ??= measured(whole());
      leftBytes -= published.bytes;
      if (leftBytes >= 0) send(ctx, streaks, run, published);
      else skip(ctx, streaks, run, TOO_MANY_BYTES);
    }
  }
}

/** Records in the streaks of the event's key that no handler runs with it, for each run that it leads to. */
export function skipPublication(ctx: DecisionContext, streaks: KeyStreaks, event: Event, reason: string): void {
  const resources = new StoredPipelineResources(ctx.decision, event.entity?.metadata.namespace ?? '');
  const named = namedBy(event, definitionOf(ctx, event));
  const runs = planRuns(named, filterInputOf(event), { resources, nowMs: ctx.nowMs });
  for (const run of runs) skip(ctx, streaks, run, reason);
}

interface Published {
  event: Event;
  bytes: number;
}

const measured = (event: Event): Published => ({ event, bytes: publishedBytes(event) });

/** Returns the size of an outbox entry, as counted against the bound of the outbox. */
export const publishedBytes = (event: Event): number => jsonBytes(event);

function send(ctx: DecisionContext, streaks: KeyStreaks, run: PlannedRun, { event, bytes }: Published): void {
  const { key } = streaks;
  const { handler, pipeline, workflow, nth, mutator, filters } = run;
  if (filters.length === 0) recordRunAhead(ctx, streaks, run);
  const entry = {
    notificationId: randomUUID(),
    namespace: namespaceOfKey(key),
    handler,
    ...(pipeline === undefined ? undefined : { pipeline, workflow, mutator }),
    ...(nth === undefined ? undefined : { nth }),
    ...(filters.length === 0 ? undefined : { filters: [...filters] }),
    key,
    event,
    decidedAtMs: ctx.nowMs,
  };
  addToOutbox(ctx, entry, bytes);
}

/** Records and announces a run that did not take place although no filter denied the event. */
function skip(ctx: DecisionContext, streaks: KeyStreaks, run: RunName, reason: string): void {
  const { key } = streaks;
  recordSkipped(ctx, streaks, run, reason);
  const namespace = namespaceOfKey(key);
  const { pipeline, workflow, handler, others } = run;
  ctx.announce({
    type: 'handler.skipped',
    namespace,
    pipeline,
    workflow,
    handler,
    others: others?.length,
    key,
    reason,
  });
}
