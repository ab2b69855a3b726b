import type { ScheduleContext, ScheduleEvent, ScheduleInput, SkippedTick } from '../../machines/check-schedule.ts';
import type { AdhocRequest } from '../../resources/adhoc-request.ts';
import type { Check } from '../../resources/check.ts';
import { NotFound, StoreUnavailable } from '../../resources/errors.ts';
import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import { scheduleSnapshot } from '../../machines/check-schedule-snapshots.ts';
import { isSubdued } from '../../rules/subdue.ts';
import type { CheckRequested, TableReader } from '../../store/decision.ts';
import type { LedgerCause } from '../../store/ledger.ts';
import { entityKey, ringTurnsKey } from '../../store/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { RequestedCheck } from '../../wire/check-request.ts';
import { checkRequest } from './check-request.ts';
import type { ReachedDeadline } from '../time/deadline-queue.ts';
import type { Decider } from '../core/decider.ts';
import { ActorFailed } from '../core/actor-failed.ts';
import type { ActorKinds } from '../core/actor-kind.ts';
import { type Rings, takeRingTurns } from './round-robin.ts';
import { firstTickOf, tickAfter } from './schedule-timing.ts';
import type { DecisionContext, Sent } from '../core/decision-context.ts';

const CHECKS = 'checks/';

export function checkOf(reader: TableReader, key: string): Check | undefined {
  const [namespace = '', name = ''] = key.split('/');
  return readResource(reader, 'checks', namespace, name);
}

/** Where the schedule of a check begins. Undefined when there is no such check. */
export function scheduleInput(reader: TableReader, key: string, nowMs: number): ScheduleInput | undefined {
  const check = checkOf(reader, key);
  return check === undefined ? undefined : { key, firstTickAtMs: firstTickOf(check, nowMs) };
}

/**
 * The snapshot of an evicted schedule: its deadline is armed, or is being decided. Undefined when there is no such check.
 */
export function evictedSchedule(
  reader: TableReader,
  key: string,
  armedAtMs: number | undefined,
): ActorSnapshot | undefined {
  return checkOf(reader, key) === undefined ? undefined : scheduleSnapshot(key, armedAtMs);
}

/**
 * A check was created, edited or deleted. Only a change of what it is scheduled by moves the schedule; everything else is read at
 * the next tick.
 */
export function checkChanged(ctx: DecisionContext, namespace: string, name: string, previous: Check | undefined): void {
  const key = entityKey(namespace, name);
  const check = checkOf(ctx.decision, key);
  ctx.announce({ type: 'check.changed', namespace, name, check });
  if (check === undefined) {
    ctx.delete('resources', ringTurnsKey(namespace, name));
    ctx.send('check-schedule', key, { type: 'check.deleted' });
  } else if (previous === undefined) {
    ctx.create('check-schedule', key, { key, firstTickAtMs: firstTickOf(check, ctx.nowMs) }, 'check.created');
    if (check.round_robin) ctx.send('check-schedule', key, { type: 'agents.awaited' });
  } else if (isScheduledOtherwise(check, previous)) {
    ctx.send('check-schedule', key, { type: 'schedule.changed', firstTickAtMs: firstTickOf(check, ctx.nowMs) });
  }
}

const isScheduledOtherwise = (one: Check, other: Check): boolean =>
  one.interval !== other.interval || one.cron !== other.cron || one.round_robin !== other.round_robin;

/** Schedules have no record to be woken from: those that were forgotten are made again from their checks. */
export function restartSchedules(ctx: DecisionContext, schedules: ActorKinds['check-schedule']): void {
  for (const path of ctx.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    if (!schedules.isAwake(key)) schedules.rebuild(ctx.decision, key);
  }
}

/** The wall clock was set: each schedule goes on at its next tick. A calendar's time that it passed over comes now, so that no day is missed. */
export function rephaseSchedules(ctx: DecisionContext): void {
  for (const path of ctx.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(ctx.decision, key);
    if (check === undefined || (check.cron !== undefined && isOverdue(ctx, key))) continue;
    sendToSchedule(ctx, key, { type: 'schedule.changed', firstTickAtMs: firstTickOf(check, ctx.nowMs) });
  }
}

function isOverdue(ctx: DecisionContext, key: string): boolean {
  const { nextTickAtMs = Infinity } = scheduleContext(ctx, key) ?? {};
  return nextTickAtMs <= ctx.nowMs;
}

/** A ring that was empty has a member: the checks that waited for one begin one interval from now. Calendars stay what they are. */
function ringsJoined(ctx: DecisionContext, namespace: string, subscriptions: readonly string[]): void {
  for (const path of ctx.decision.keys('resources', `${CHECKS}${namespace}/`)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(ctx.decision, key);
    if (check?.round_robin !== true || check.cron !== undefined) continue;
    if (!check.subscriptions.some((subscription) => subscriptions.includes(subscription))) continue;
    sendToSchedule(ctx, key, { type: 'ring.joined', firstTickAtMs: ctx.nowMs + check.interval * 1_000 });
  }
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

/** Asks the agents of the check's subscriptions to run it. Whoever is offline does not hear of it later. */
export function requestCheck(ctx: DecisionContext, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(ctx.decision, key);
  if (check === undefined) return;
  if (check.proxy_requests !== undefined) announceProxyRun(ctx, check, undefined);
  else if (check.round_robin) requestInTurn(ctx, check, rings);
  else announceRequest(ctx, check, check.subscriptions, false);
}

/** Nobody is asked, and the turns go on. Those for entities that are not looked up stay where they are. */
export function passTurns(ctx: DecisionContext, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(ctx.decision, key);
  if (check?.round_robin === true && check.proxy_requests === undefined) takeRingTurns(ctx, rings, check, 1);
}

function requestInTurn(ctx: DecisionContext, check: Check, rings: Rings): void {
  const agents = takeRingTurns(ctx, rings, check, 1).flat();
  for (const agent of agents) announceRequest(ctx, check, [`entity:${agent}`], false);
  if (agents.length > 0) return;
  const { namespace = '', name = '' } = check.metadata;
  ctx.follow(() => {
    sendToSchedule(ctx, entityKey(namespace, name), noMembers(ctx));
  });
}

export const noMembers = ({ nowMs }: DecisionContext): ScheduleEvent => ({
  type: 'tick.skipped',
  atMs: nowMs,
  reason: 'no agents',
  detail: 'no agent is in a ring of its subscriptions',
});

/** Asks whoever is subscribed to one of `topics`. */
export function announceRequest(ctx: DecisionContext, config: RequestedCheck, topics: string[], adhoc: boolean): void {
  ctx.announce({
    type: 'check.requested',
    namespace: config.metadata.namespace ?? '',
    subscriptions: topics,
    request: checkRequest(ctx.decision, config, ctx.nowS),
    adhoc,
  });
}

/** The entities are looked up elsewhere: that takes its time. `subscriptions` replaces those of the check in a run that a person asks for. */
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

/** Whatever the schedule of the check says, which goes on as it is. When it was issued, Unix seconds. @throws NotFound */
export function executeCheck(
  ctx: DecisionContext,
  key: string,
  { subscriptions, creator, reason }: AdhocRequest,
): number {
  const check = checkOf(ctx.decision, key);
  if (check === undefined) throw new NotFound('not found');
  const asked = subscriptions ?? check.subscriptions;
  if (check.proxy_requests === undefined) announceRequest(ctx, { ...check, subscriptions: asked }, asked, true);
  else announceProxyRun(ctx, check, subscriptions, true);
  const details = { creator, reason, subscriptions: asked };
  ctx.record({ actor: 'checks', key, from: null, event: 'check.requested', to: null, details });
  return ctx.nowS;
}

/** Undefined when there is no schedule, or when it is in quarantine. */
export function sendToSchedule(ctx: DecisionContext, key: string, event: ScheduleEvent): Sent | undefined {
  return ctx.isQuarantined('check-schedule', key) ? undefined : ctx.send('check-schedule', key, event);
}

/** Where the schedule of a check stands; undefined when there is none, or when it is in quarantine. */
export function scheduleContext(ctx: DecisionContext, key: string): ScheduleContext | undefined {
  if (ctx.isQuarantined('check-schedule', key)) return undefined;
  return ctx.snapshot('check-schedule', key)?.context as ScheduleContext | undefined;
}

/** On record when it is not what the tick before came to, so that every tick is explained by the entry before it. */
export function explainSkip(ctx: DecisionContext, { key }: ScheduleContext, { reason, detail }: SkippedTick): void {
  const details = { reason, ...(detail === undefined ? {} : { detail }) };
  ctx.record({ actor: 'checks', key, from: null, event: 'tick.skipped', to: null, details });
}

export function explainRun(ctx: DecisionContext, { key }: ScheduleContext): void {
  ctx.record({ actor: 'checks', key, from: null, event: 'ticks.resumed', to: null });
}

/** As `ringsJoined`, by whoever sees agents come; it does not throw either. */
export function reportRings(decider: Decider, namespace: string, subscriptions: readonly string[]): void {
  report(decider, { restore: true }, (ctx) => {
    ringsJoined(ctx, namespace, subscriptions);
  });
}

/**
 * Tells the schedule how many sessions its request went out to. Called by whoever hears announcements, so it does not
 * throw: of an actor that failed and of a store that fails somebody else tells.
 */
export function reportRequest(decider: Decider, { adhoc, request, namespace }: CheckRequested, sessions: number): void {
  if (adhoc) return;
  const key = entityKey(namespace, request.config.metadata.name ?? '');
  const atMs = request.issued * 1_000;
  report(decider, { deadlineAtMs: atMs }, (ctx) => {
    sendToSchedule(ctx, key, { type: 'request.sent', atMs, sessions });
  });
}

function report(decider: Decider, cause: LedgerCause, run: (ctx: DecisionContext) => void): void {
  try {
    decider.decide({ cause, unbounded: true }, run);
  } catch (error) {
    if (!(error instanceof ActorFailed || error instanceof StoreUnavailable)) throw error;
  }
}
