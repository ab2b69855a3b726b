import { stateName } from '../../machines/actor-snapshot.ts';
import type { CheckTtlInput } from '../../machines/check-ttl.ts';
import { movesDeadlineOnly, ttlAfterResult } from '../../machines/check-ttl-snapshots.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { historyOf } from '../../rules/check-history.ts';
import {
  type CheckState,
  isResolution,
  mergeCheckState,
  NO_PREVIOUS_STATE,
  type PreviousCheckState,
} from '../../rules/check-state.ts';
import { truncateOutput } from '../../rules/output-truncation.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import { decodedRecord, EncodedEvent, withTtl } from '../../store/records/encoded-event.ts';
import { atMostJsonBytes, eventBytes } from '../../store/records/event-sizes.ts';
import { entityKey, eventKey } from '../../store/encoding/keyspace.ts';
import { type ActorSnapshot, eventOf, type EventRecord } from '../../store/records/records.ts';
import { resolveEntity } from '../entities/proxy-entities.ts';
import { ranAfter } from '../ticks/entity-ticks.ts';
import { renewEvent } from './deletions.ts';
import { type Overdue, recordCheckState } from './check-state-entry.ts';
import { announceMetrics } from './metric-history.ts';
import { joinAggregates } from './join-aggregates.ts';
import { recordIncident } from './incidents.ts';
import { KeyStreaks } from './open-streaks.ts';
import { announceProcessed, definitionOf, namedBy, publish, skipPublication } from './publish.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { countEvent } from './counted-events.ts';
import { silence } from './silences.ts';
import { ttlDeadline } from './ttl-deadline.ts';

export const KEEPALIVE = 'keepalive';
/** Why no handler runs with an event. */
const QUARANTINED = 'the state machine of the check is quarantined, events are stored and not handled';

/** The annotation that sets the status of an expired check TTL, 1 to 255. */
const TTL_STATUS_ANNOTATION = 'mon.io/ttl-status';

export interface MergeOptions {
  /** Whether the history in the first event of a key is accepted, as it is from agents. */
  trustsSentHistory: boolean;
  /** Whether to leave the check TTL unchanged, as the event of an expiry does. */
  isExpiry?: boolean;
  /** Whether the check is passing afterwards, even if it flaps, as a user requested. Such a result is not one of a tick. */
  isForcedResolution?: boolean;
  cause?: LedgerCause;
  /** The deadline of an alert about something that is missing. */
  overdue?: (Overdue & { blindMs: number | undefined }) | undefined;
  /** Set for a result that was sent to the backend, which must fit into its entity; the number of its bytes, if it is known. */
  sent?: { atMostBytes: number | undefined };
  /** The received bytes of the event; used only if the event is stored unchanged. */
  encoded?: Buffer | undefined;
}

/** Merges an event into the stored state of its entity and check. Every event is created here. Returns the event with the entity it is stored under. @throws EntityLimitReached, EntityFull */
export function mergeEvent(ctx: DecisionContext, received: CheckEvent, options: MergeOptions): CheckEvent {
  const event = resolveEntity(ctx, received);
  const key = keyOf(event);
  const { tally } = ctx.decision;
  tally.checkEvents += 1;
  tally.metricPoints += event.metrics?.points?.length ?? 0;
  renewEvent(ctx, key);
  const previous = ctx.get('events', key);
  if (options.sent !== undefined) makeRoom(ctx, key, event, previous, options);
  if (ctx.isQuarantined('check-ttl', key)) {
    storeUnmerged(ctx, key, event, previous);
    return event;
  }
  const cause = options.cause ?? (event.id === null ? ctx.cause : { eventId: event.id });
  const merged = mergeState(event, previous, options);
  const silenced = silence(ctx, event, { isResolution: isResolution(merged.history), key, cause });
  const state = silenced.length === 0 ? merged : { ...merged, silenced };
  const ttl = options.isExpiry === true ? previous?.ttl : updateTtl(ctx, key, event, previous);
  const stored = asStored(event);
  const encoded = stored === received ? options.encoded : undefined;
  const ran = options.isForcedResolution === true ? previous?.ran : ranAfter(ctx, key, event, previous);
  const definition = definitionOf(ctx, event);
  const aggregates = joinAggregates(ctx, { key, event, definition, previous, state });
  countEvent(ctx, key, previous, { state });
  announceProcessed(ctx, () => eventOf({ state, ttl, event: stored }));
  announceMetrics(ctx, key, event.metrics?.points);
  recordIncident(ctx, { key, previous: previous?.state, merged: state, timestampS: event.timestamp });
  recordCheckState(ctx, event, { key, previous: previous?.state, merged: state, cause, overdue: options.overdue });
  const { status } = event.check;
  const previousStatus = state.history.statuses.at(-2);
  const streaks = new KeyStreaks(key, previous?.streaks);
  publish(ctx, streaks, {
    received: event,
    named: namedBy(event, definition),
    filterInput: { status, previousStatus, silenced: state.silenced, hasMetrics: event.metrics !== undefined },
    givesWay: event.check.metadata.name === KEEPALIVE && status === 0 && (previousStatus ?? 0) === 0,
    event: () => asPublished(event, state, stored),
  });
  const kept = { state, ttl, ran, streaks: streaks.inEvent(ctx), aggregates, attributes: undefined };
  ctx.put('events', key, encoded === undefined ? decodedRecord(kept, stored) : new EncodedEvent(kept, encoded));
  return event;
}

export function keyOf({ entity, check }: CheckEvent): string {
  return eventKey(entity.metadata.namespace ?? '', entity.metadata.name ?? '', check.metadata.name ?? '');
}

/** Keepalives are always stored: each entity has one. @throws EntityFull */
function makeRoom(
  ctx: DecisionContext,
  key: string,
  event: CheckEvent,
  previous: EventRecord | undefined,
  { sent, encoded }: MergeOptions,
): void {
  if (event.check.metadata.name === KEEPALIVE) return;
  const { namespace = '', name = '' } = event.entity.metadata;
  const bytes = (): number => eventBytes({ encoded, event: asStored(event) });
  const entity = entityKey(namespace, name);
  const isNew = previous === undefined;
  const atMostBytes =
    sent?.atMostBytes ?? atMostJsonBytes(event.metrics === undefined ? event : { ...event, metrics: undefined });
  ctx.room.add({ entity, key, isNew, atMostBytes, bytes, atMs: ctx.steadyMs });
}

function mergeState({ check }: CheckEvent, previous: EventRecord | undefined, options: MergeOptions): CheckState {
  return mergeCheckState(previous?.state ?? firstState(check, options), {
    status: check.status,
    executed: check.executed,
    lowFlapThreshold: options.isForcedResolution === true ? 0 : check.low_flap_threshold,
    highFlapThreshold: check.high_flap_threshold,
  });
}

function firstState(check: CheckEvent['check'], { trustsSentHistory }: MergeOptions): PreviousCheckState {
  if (!trustsSentHistory) return NO_PREVIOUS_STATE;
  return {
    history: historyOf(check.history ?? []),
    occurrences: check.occurrences,
    occurrencesWatermark: check.occurrences_watermark,
    state: undefined,
    lastOk: check.last_ok,
  };
}

/** Arms, moves or disarms the check TTL. The first event with a ttl arms it. */
function updateTtl(ctx: DecisionContext, key: string, event: CheckEvent, previous: EventRecord | undefined) {
  const { check } = event;
  if (check.metadata.name === KEEPALIVE) return undefined;
  const arms = check.ttl > 0 && !(check.round_robin && check.proxy_entity_name === '');
  if (!arms && previous?.ttl === undefined) return undefined;
  const ttlMs = arms ? check.ttl * 1_000 : 0;
  const result = { ttlMs, alertStatus: alertStatusOf(check), atMs: ctx.steadyMs };
  const isWatched = ctx.isWatched('check-ttl', key);
  if (previous?.ttl === undefined) return isWatched ? createTtl(ctx, key, result) : armWithoutActor(ctx, key, result);
  if (!isWatched && movesDeadlineOnly(previous.ttl, ttlMs)) return rearm(ctx, key, result);
  return ctx.send('check-ttl', key, { type: 'result.received', ...result })?.snapshot;
}

const ARMED_BY = 'result.received';

const createTtl = (ctx: DecisionContext, key: string, result: Omit<CheckTtlInput, 'key'>): ActorSnapshot | undefined =>
  ctx.create('check-ttl', key, { key, ...result }, ARMED_BY).snapshot;

/** Arms a new check TTL: returns the snapshot and records the ledger entry without creating the actor, which the next result would evict. */
function armWithoutActor(ctx: DecisionContext, key: string, result: Omit<CheckTtlInput, 'key'>): ActorSnapshot {
  const snapshot = rearm(ctx, key, result);
  ctx.record({ actor: 'check-ttl', key, from: null, event: ARMED_BY, to: stateName(snapshot.value) });
  return snapshot;
}

/**
 * Changes the record as the actor would, without waking it: most results change no state. The actor is evicted, because
 * its memory is now older than the record.
 */
function rearm(ctx: DecisionContext, key: string, result: Omit<CheckTtlInput, 'key'>): ActorSnapshot {
  ctx.evict('check-ttl', key);
  const { ttlMs, alertStatus } = result;
  const snapshot = ttlAfterResult({ key, ttlMs, alertStatus, atMs: result.atMs });
  const { atMs, sinceMs, repeat } = ttlDeadline(snapshot);
  ctx.decision.deadlines.push({ actor: 'check-ttl', key, atMs, sinceMs, repeat });
  return snapshot;
}

export function alertStatusOf(check: CheckEvent['check']): number {
  const status = Number(check.metadata.annotations?.[TTL_STATUS_ANNOTATION] ?? 1);
  return Number.isInteger(status) && status >= 1 && status <= 255 ? status : 1;
}

/** Removes the metrics and cuts a long output, for the store. */
function asStored(event: CheckEvent): CheckEvent {
  const cut = truncateOutput(event);
  return cut.metrics === undefined ? cut : { ...cut, metrics: undefined };
}

/** Returns the event for handlers: merged, with its whole output and its metrics, and with the label of the stored event that says how many bytes it lacks. */
function asPublished(event: CheckEvent, state: CheckState, { metadata }: CheckEvent): CheckEvent {
  return { ...eventOf({ state, ttl: undefined, event }), metadata };
}

/** Stores an event as received, beside the last merged state, while its actor is quarantined. */
function storeUnmerged(ctx: DecisionContext, key: string, event: CheckEvent, previous: EventRecord | undefined): void {
  const state = previous?.state ?? mergeState(event, undefined, { trustsSentHistory: false });
  const ttl = previous?.ttl === undefined ? undefined : ttlWhileQuarantined(ctx, key, event.check);
  const ran = ranAfter(ctx, key, event, previous);
  const stored = asStored(event);
  countEvent(ctx, key, previous, { state });
  announceProcessed(ctx, () => eventOf({ state, ttl, event: stored }));
  const streaks = new KeyStreaks(key, previous?.streaks);
  skipPublication(ctx, streaks, event, QUARANTINED);
  const kept = {
    state,
    ttl,
    ran,
    streaks: streaks.inEvent(ctx),
    aggregates: previous?.aggregates,
    attributes: undefined,
  };
  ctx.put('events', key, decodedRecord(kept, stored));
}

/** Returns the snapshot of a check TTL whose actor is quarantined and cannot receive the result. */
function ttlWhileQuarantined(ctx: DecisionContext, key: string, check: CheckEvent['check']): ActorSnapshot | undefined {
  if (check.ttl <= 0) return undefined;
  return ttlAfterResult({ key, ttlMs: check.ttl * 1_000, alertStatus: alertStatusOf(check), atMs: ctx.steadyMs });
}

/** Replaces the snapshot of the check TTL and keeps the event. */
export function replaceTtl(
  ctx: DecisionContext,
  key: string,
  record: EventRecord,
  ttl: ActorSnapshot | undefined,
): void {
  ctx.put('events', key, withTtl(record, ttl));
}
