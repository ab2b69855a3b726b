import type { ScheduleContext, ScheduleEvent, ScheduleInput, SkippedTick } from '../../machines/check-schedule.ts';
import type { AdhocRequest } from '../../resources/adhoc-request.ts';
import type { Check } from '../../resources/check.ts';
import { NotFound } from '../../resources/errors.ts';
import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import { scheduleSnapshot } from '../../machines/check-schedule-snapshots.ts';
import { isSubdued } from '../../rules/subdue.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import { entityKey, ringPositionsKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { RequestedCheck } from '../../wire/check-request.ts';
import { checkRequest } from './check-request.ts';
import type { ReachedDeadline } from '../time/deadline-queue.ts';
import type { ActorKinds } from '../core/actor-kind.ts';
import { RequestTooLong } from './request-too-long.ts';
import { assertSecretsResolve, SecretsNotResolved } from './secrets-not-resolved.ts';
import { type Rings, takeRingSlots } from './round-robin.ts';
import { moveNextTick, tickOf } from '../ticks/check-ticks.ts';
import { firstTickOf, tickAfter } from '../ticks/schedule-timing.ts';
import { CLOCK_SET } from '../ticks/tick-gaps.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { Sent } from '../core/decision-ports.ts';

export const CHECKS = 'checks/';
/** After this time a tick without an outcome is an error: one that asked agents, and one whose entities are selected, ms. */
const DELIVERY_MS = 30_000;
const SELECTION_MS = 900_000;

export function checkOf(reader: TableReader, key: string): Check | undefined {
  const [namespace = '', name = ''] = key.split('/');
  return readResource(reader, 'checks', namespace, name);
}

/** Returns the input of a new schedule; undefined when the check does not exist. */
export function scheduleInput(reader: TableReader, key: string, nowMs: number): ScheduleInput | undefined {
  const check = checkOf(reader, key);
  return check === undefined ? undefined : { key, firstTickAtMs: firstTickOf(check, nowMs) };
}

/**
 * Returns the snapshot of an evicted schedule, whose deadline is armed or is being decided; undefined when the check does not exist.
 */
export function evictedSchedule(
  reader: TableReader,
  key: string,
  armedAtMs: number | undefined,
): ActorSnapshot | undefined {
  return checkOf(reader, key) === undefined ? undefined : scheduleSnapshot(key, armedAtMs);
}

/**
 * Handles the creation, change or deletion of a check. Only a change of the interval, the cron expression or round robin moves the
 * schedule. The next tick reads all other fields.
 */
export function checkChanged(ctx: DecisionContext, namespace: string, name: string, previous: Check | undefined): void {
  const key = entityKey(namespace, name);
  const check = checkOf(ctx.decision, key);
  ctx.announce({ type: 'check.changed', namespace, name, check });
  changeSchedule(ctx, key, check, previous);
  const { nextTickAtMs } = check === undefined ? {} : (scheduleContext(ctx, key) ?? {});
  const isMoved = check === undefined || previous === undefined || isRescheduled(check, previous);
  if (isMoved) moveNextTick(ctx, key, nextTickAtMs);
}

function changeSchedule(
  ctx: DecisionContext,
  key: string,
  check: Check | undefined,
  previous: Check | undefined,
): void {
  if (check === undefined) {
    const [namespace = '', name = ''] = key.split('/');
    ctx.delete('resources', ringPositionsKey(namespace, name));
    ctx.send('check-schedule', key, { type: 'check.deleted' });
  } else if (previous === undefined) {
    ctx.create('check-schedule', key, { key, firstTickAtMs: firstTickOf(check, ctx.nowMs) }, 'check.created');
    if (check.round_robin) ctx.send('check-schedule', key, { type: 'agents.awaited' });
  } else if (isRescheduled(check, previous)) {
    ctx.send('check-schedule', key, { type: 'schedule.changed', firstTickAtMs: firstTickOf(check, ctx.nowMs) });
  }
}

const isRescheduled = (one: Check, other: Check): boolean =>
  one.interval !== other.interval || one.cron !== other.cron || one.round_robin !== other.round_robin;

/** Rebuilds the schedules that are not awake from their checks, because schedules have no stored record. */
export function restartSchedules(ctx: DecisionContext, schedules: ActorKinds['check-schedule']): void {
  for (const path of ctx.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    if (!schedules.isAwake(key)) schedules.rebuild(ctx.decision, key);
  }
}

/** Moves each schedule to its next tick after the wall clock was set. A cron time that was skipped runs now, so that no run is lost. */
export function rephaseSchedules(ctx: DecisionContext): void {
  for (const path of ctx.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(ctx.decision, key);
    if (check === undefined || (check.cron !== undefined && isOverdue(ctx, key))) continue;
    const firstTickAtMs = firstTickOf(check, ctx.nowMs);
    const sent = sendToSchedule(ctx, key, { type: 'schedule.changed', firstTickAtMs });
    if (sent !== undefined) moveNextTick(ctx, key, firstTickAtMs, CLOCK_SET);
  }
}

function isOverdue(ctx: DecisionContext, key: string): boolean {
  const { nextTickAtMs = Infinity } = scheduleContext(ctx, key) ?? {};
  return nextTickAtMs <= ctx.nowMs;
}

export function checkDue(ctx: DecisionContext, { key, deadlineAtMs }: ReachedDeadline): void {
  const check = checkOf(ctx.decision, key);
  if (check === undefined) return;
  const atMs = Math.max(deadlineAtMs, ctx.nowMs);
  const nextTickAtMs = tickAfter(check, deadlineAtMs, atMs);
  ctx.send('check-schedule', key, {
    type: 'deadline.reached',
    deadlineAtMs,
    atMs,
    nextTickAtMs,
    skip: reasonToSkip(check, atMs),
  });
}

function reasonToSkip({ publish, subdues }: Check, atMs: number): 'not published' | 'subdued' | undefined {
  if (!publish) return 'not published';
  return isSubdued(subdues ?? [], atMs) ? 'subdued' : undefined;
}

/** Requests the check from the agents of its subscriptions. An agent that is offline does not receive the request later. */
export function requestCheck(ctx: DecisionContext, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(ctx.decision, key);
  if (check === undefined) return;
  const tickAtMs = tickOf(ctx);
  const limitMs = check.proxy_requests === undefined ? DELIVERY_MS : SELECTION_MS;
  if (tickAtMs !== undefined) ctx.ticks.begun(key, tickAtMs, ctx.steadyMs + limitMs);
  try {
    assertSecretsResolve(ctx, check);
    if (check.proxy_requests !== undefined) announceProxyRun(ctx, check, undefined);
    else if (check.round_robin) requestFromRings(ctx, check, rings);
    else announceRequest(ctx, check, check.subscriptions);
  } catch (error) {
    if (!(error instanceof RequestTooLong || error instanceof SecretsNotResolved)) throw error;
    const reason = error instanceof RequestTooLong ? 'too long' : 'secrets not resolved';
    skipTick(ctx, check, { type: 'tick.skipped', atMs: ctx.nowMs, reason, detail: error.message });
  }
}

/** Advances the rings of a check without a request. The rings of proxy checks stay as they are, because no entities were selected. */
export function advanceRings(ctx: DecisionContext, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(ctx.decision, key);
  if (check?.round_robin === true && check.proxy_requests === undefined) takeRingSlots(ctx, rings, check, 1);
}

function requestFromRings(ctx: DecisionContext, check: Check, rings: Rings): void {
  const agents = takeRingSlots(ctx, rings, check, 1).flat();
  for (const agent of agents) announceRequest(ctx, check, [`entity:${agent}`]);
  if (agents.length === 0) skipTick(ctx, check, noMembers(ctx));
}

/** Reports a skipped tick after the current transition of the schedule. */
function skipTick(ctx: DecisionContext, check: Check, skipped: ScheduleEvent): void {
  const { namespace = '', name = '' } = check.metadata;
  ctx.follow(() => {
    sendToSchedule(ctx, entityKey(namespace, name), skipped);
  });
}

export const noMembers = ({ nowMs }: DecisionContext): ScheduleEvent => ({
  type: 'tick.skipped',
  atMs: nowMs,
  reason: 'no agents',
  detail: 'no agent is in a ring of its subscriptions',
});

/**
 * Announces a request to the agents subscribed to one of `topics`. Returns the size of its assets and hooks, bytes. `isFilled`: the
 * tokens of the check are filled. @throws RequestTooLong, SecretsNotResolved
 */
export function announceRequest(
  ctx: DecisionContext,
  config: RequestedCheck,
  topics: string[],
  { adhoc = false, isFilled = false } = {},
): number {
  if (!adhoc) assertSecretsResolve(ctx, config);
  const { request, bytes } = checkRequest(ctx.decision, config, ctx.nowS);
  ctx.announce({
    type: 'check.requested',
    namespace: config.metadata.namespace ?? '',
    subscriptions: topics,
    request: isFilled ? { ...request, tokens_filled: true } : request,
    adhoc,
    tickAtMs: adhoc ? undefined : tickOf(ctx),
  });
  return bytes;
}

/** Announces a proxy run. Its entities are selected outside the decision. `subscriptions` replaces those of the check in an ad hoc run. */
function announceProxyRun(
  ctx: DecisionContext,
  check: Check,
  subscriptions: string[] | undefined,
  adhoc = false,
): void {
  const { namespace = '', name = '' } = check.metadata;
  const expressions = check.proxy_requests?.entity_attributes ?? [];
  const { cause, nowMs: atMs } = ctx;
  ctx.announce({
    type: 'proxy-run.requested',
    namespace,
    check: name,
    expressions,
    subscriptions,
    adhoc,
    atMs,
    cause,
  });
}

/** Requests a check once, independent of its schedule. Returns the time of the request, Unix seconds. @throws NotFound, RequestTooLong, SecretsNotResolved */
export function executeCheck(
  ctx: DecisionContext,
  key: string,
  { subscriptions, creator, reason }: AdhocRequest,
): number {
  const check = checkOf(ctx.decision, key);
  if (check === undefined) throw new NotFound('not found');
  const asked = subscriptions ?? check.subscriptions;
  if (check.proxy_requests === undefined)
    announceRequest(ctx, { ...check, subscriptions: asked }, asked, { adhoc: true });
  else announceProxyRun(ctx, check, subscriptions, true);
  const details = { creator, reason, subscriptions: asked };
  ctx.record({ actor: 'checks', key, from: null, event: 'check.requested', to: null, details });
  return ctx.nowS;
}

/** Sends an event to the schedule of a check. Returns undefined when there is none or it is quarantined. */
export function sendToSchedule(ctx: DecisionContext, key: string, event: ScheduleEvent): Sent | undefined {
  return ctx.isQuarantined('check-schedule', key) ? undefined : ctx.send('check-schedule', key, event);
}

/** Returns the context of the schedule of a check; undefined when there is none or it is quarantined. */
export function scheduleContext(ctx: DecisionContext, key: string): ScheduleContext | undefined {
  if (ctx.isQuarantined('check-schedule', key)) return undefined;
  return ctx.snapshot('check-schedule', key)?.context as ScheduleContext | undefined;
}

/** Records the reason of a skipped tick. The machine calls it when the reason changes, so that the last entry explains every tick. */
export function explainSkip(ctx: DecisionContext, { key }: ScheduleContext, { reason, detail }: SkippedTick): void {
  const details = { reason, ...(detail === undefined ? {} : { detail }) };
  ctx.record({ actor: 'checks', key, from: null, event: 'tick.skipped', to: null, details });
}

export function explainRun(ctx: DecisionContext, { key }: ScheduleContext): void {
  ctx.record({ actor: 'checks', key, from: null, event: 'ticks.resumed', to: null });
}
