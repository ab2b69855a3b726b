import { randomUUID } from 'node:crypto';
import { type ActorSnapshot, stateName } from '../../machines/actor-snapshot.ts';
import { entityAfterKeepalive } from '../../machines/entity-snapshots.ts';
import { type EntityContext, entityMachine, keepaliveDeadlineAtMs, keepaliveRepeat } from '../../machines/entity.ts';
import { type Entity, type EntityState, stateOf, withOwnSubscription } from '../../resources/entity.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { type CheckEvent, eventCheckWithDefaults } from '../../resources/event.ts';
import { keepaliveAlertOutput } from '../../rules/alert-output.ts';
import { DEFAULT_WARNING_S, timeoutError } from '../../rules/keepalive-ticks.ts';
import { isStaleKeepalive } from '../../rules/stale-keepalive.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { UNKNOWN_INPUT } from '../time/blind-time.ts';
import type { ReachedDeadline, StoredDeadline } from '../time/deadline-queue.ts';
import { blindMsOf, withBlindTime } from '../events/blind-annotation.ts';
import { KEEPALIVE, mergeEvent } from '../events/merge-event.ts';
import { putEntityRecord } from '../entities/stored-entities.ts';
import { registerAgent } from './registration.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The beginning of the output of each keepalive event of status 0. */
export const ALIVE_OUTPUT = 'Keepalive last sent from';
const DEFAULT_HANDLERS = ['keepalive'];
/** The fields that the reference writes into the events of its keepalive monitor. */
const SCHEDULER = 'etcd';

/** The largest time that can be formatted as a date. */
const MAX_TIME_S = 8_640_000_000_000;

interface Timeouts {
  intervalMs: number;
  warningMs: number;
  criticalMs: number;
}

/** Reads the timeouts from the check of a keepalive. @throws InvalidResource naming the invalid one */
export function timeoutsOf({ interval, timeout, ttl }: CheckEvent['check']): Timeouts {
  const error = timeoutError(interval, timeout, ttl);
  if (error !== undefined) throw new InvalidResource(error);
  const warningS = timeout === 0 && ttl <= 0 ? DEFAULT_WARNING_S : timeout;
  return { intervalMs: interval * 1_000, warningMs: warningS * 1_000, criticalMs: Math.max(ttl, 0) * 1_000 };
}

/**
 * Receives the keepalive of an agent: registers its entity, restarts its monitor and merges an event of status 0. A keepalive from
 * before the connection, opened at `connectedAtMs`, restores no old data and ends no alert.
 * @throws InvalidResource, EntityLimitReached
 */
export function receiveKeepalive(ctx: DecisionContext, event: CheckEvent, connectedAtMs = 0): void {
  if (event.timestamp === 0 || Math.abs(event.timestamp) > MAX_TIME_S) {
    throw new InvalidResource('keepalive contains invalid timestamp');
  }
  const timeouts = timeoutsOf(event.check);
  const entity = withOwnSubscription({ ...event.entity, ...newestState(ctx, event, timeouts, connectedAtMs) });
  registerAgent(ctx, entity, event.sequence);
  restartMonitor(ctx, entity, timeouts);
  mergeEvent(ctx, aliveEvent(ctx, { ...event, entity }), { trustsSentHistory: false });
}

/** Returns the state of the entity after a keepalive. @throws InvalidResource for a stale keepalive while keepalives are missing */
function newestState(ctx: DecisionContext, event: CheckEvent, timeouts: Timeouts, connectedAtMs: number): EntityState {
  const { entity, timestamp: sentAtS } = event;
  const sent = { ...stateOf(entity), last_seen: sentAtS };
  const key = entityKey(entity.metadata.namespace ?? '', entity.metadata.name ?? '');
  const known = ctx.get('entities', key);
  if (known === undefined) return sent;
  const isStale = isStaleKeepalive({
    sentAtS,
    lastSeenS: known.state.last_seen,
    nowS: ctx.nowS,
    connectedMs: ctx.nowMs - connectedAtMs,
    timeoutMs: timeouts.warningMs || timeouts.criticalMs,
  });
  if (!isStale) return { ...sent, last_seen: Math.max(known.state.last_seen, sentAtS) };
  if (stateName(ctx.snapshot('entity', key)?.value ?? known.actor.value) !== 'registered') {
    throw new InvalidResource('keepalive is older than the last one by more than its timeout');
  }
  return known.state;
}

/** Handles an event named keepalive from the API: it counts as a keepalive of the agent that it names, if one exists. @throws InvalidResource */
export function countAsKeepalive(ctx: DecisionContext, { entity, check }: CheckEvent): void {
  const { namespace = '', name = '' } = entity.metadata;
  if (readResource(ctx.decision, 'entities', namespace, name)?.entity_class !== 'agent') return;
  const timeouts = timeoutsOf(check);
  const stored = ctx.get('entities', entityKey(namespace, name))?.state ?? stateOf(entity);
  sendKeepalive(ctx, entityKey(namespace, name), stored, timeouts);
}

function restartMonitor(ctx: DecisionContext, entity: Entity, timeouts: Timeouts): void {
  const { namespace = '', name = '' } = entity.metadata;
  sendKeepalive(ctx, entityKey(namespace, name), stateOf(entity), timeouts);
}

function sendKeepalive(ctx: DecisionContext, key: string, state: ReturnType<typeof stateOf>, timeouts: Timeouts): void {
  ctx.decision.tally.keepalives += 1;
  const previous = ctx.get('entities', key);
  if (ctx.isQuarantined('entity', key)) {
    const actor = entityAfterKeepalive(key, { ...timeouts, atMs: ctx.steadyMs });
    if (previous !== undefined) putEntityRecord(ctx, key, { state, actor }, previous);
    return;
  }
  const event = { type: 'keepalive.received', atMs: ctx.steadyMs, ...timeouts } as const;
  const actor = (ctx.send('entity', key, event) ?? createAndSend(ctx, key, event)).snapshot;
  if (actor !== undefined) putEntityRecord(ctx, key, { state, actor }, previous);
}

/** Creates the actor of a configuration without one, as an import can leave it. */
function createAndSend(ctx: DecisionContext, key: string, event: Parameters<typeof ctx.send<'entity'>>[2]) {
  ctx.create('entity', key, { key }, event.type);
  const sent = ctx.send('entity', key, event);
  if (sent === undefined) throw new Error('a new actor must be awake');
  return sent;
}

/** Builds the event of status 0 from a keepalive. */
function aliveEvent(ctx: DecisionContext, keepalive: CheckEvent): CheckEvent {
  const { entity } = keepalive;
  const lastSeen = new Date(entity.last_seen * 1_000).toISOString().replace('T', ' ').slice(0, 19);
  return rebuilt(ctx, keepalive, 0, `${ALIVE_OUTPUT} ${entity.metadata.name} at ${lastSeen} +0000 UTC`);
}

function rebuilt(
  ctx: DecisionContext,
  { entity, check, ...rest }: CheckEvent,
  status: number,
  output: string,
): CheckEvent {
  return {
    ...rest,
    entity,
    id: randomUUID(),
    timestamp: ctx.nowS,
    check: eventCheckWithDefaults({
      metadata: { name: KEEPALIVE, namespace: entity.metadata.namespace ?? null },
      interval: check.interval,
      timeout: check.timeout,
      ttl: check.ttl,
      handlers: entity.keepalive_handlers ?? DEFAULT_HANDLERS,
      scheduler: SCHEDULER,
      executed: ctx.nowS,
      issued: ctx.nowS,
      status,
      output,
    }),
  };
}

/** Handles the deadline of an entity's monitor: sends it to the actor and stores the new snapshot. */
export function keepaliveDue(
  ctx: DecisionContext,
  { key, deadlineAtMs, atMs, graceMs, blindMs }: ReachedDeadline,
): void {
  const record = ctx.get('entities', key);
  const before = ctx.snapshot('entity', key);
  if (record === undefined || before === undefined) return;
  const { lastReceivedAtMs, graceMs: graceBeforeMs } = before.context as EntityContext;
  const details = graceMs === graceBeforeMs ? undefined : { blindMs };
  const event = {
    type: 'deadline.reached',
    deadlineAtMs,
    elapsedMs: atMs - lastReceivedAtMs - graceMs,
    graceMs,
    keepaliveEventExists: ctx.get('events', `${key}/${KEEPALIVE}`) !== undefined,
    deregister: readResource(ctx.decision, 'entities', ...namesIn(key))?.deregister ?? false,
  } as const;
  const sent = ctx.send('entity', key, event, details);
  if (sent?.snapshot === undefined) return;
  putEntityRecord(ctx, key, { ...record, actor: sent.snapshot }, record);
}

function namesIn(key: string): [namespace: string, name: string] {
  const [namespace = '', name = ''] = key.split('/');
  return [namespace, name];
}

/** Merges the alert for missing keepalives. Its output names the seconds since the last receipt. */
export function publishKeepaliveAlert(
  ctx: DecisionContext,
  { key, lastReceivedAtMs }: EntityContext,
  { status, thresholdMs }: { status: number; thresholdMs: number },
): void {
  const record = ctx.get('events', `${key}/${KEEPALIVE}`);
  if (record === undefined) return;
  const silentS = Math.floor((ctx.steadyMs - lastReceivedAtMs) / 1_000);
  const { entity } = record.event;
  const output = keepaliveAlertOutput(entity.metadata.name ?? '', silentS, thresholdMs);
  const alert = withBlindTime(ctx, rebuilt(ctx, record.event, status, output));
  const overdue = { lastReceivedAtMs, limitMs: thresholdMs, blindMs: blindMsOf(ctx) };
  ctx.decision.tally.missedKeepalives += 1;
  ctx.follow(() => {
    mergeEvent(ctx, alert, { trustsSentHistory: false, overdue });
  });
}

/**
 * The deadline of a stored snapshot. One of another machine version is due at once: its actor is then rebuilt and stored.
 */
export function keepaliveDeadline({ context, version }: ActorSnapshot): StoredDeadline | undefined {
  if (version !== entityMachine.version) return { atMs: 0, sinceMs: UNKNOWN_INPUT };
  const entity = context as EntityContext;
  const atMs = keepaliveDeadlineAtMs(entity);
  return atMs === undefined ? undefined : { atMs, sinceMs: entity.lastReceivedAtMs, repeat: keepaliveRepeat(entity) };
}
