import type {
  ScheduleContext,
  ScheduleEvent,
  ScheduleInput,
  SkippedTick,
  SkipReason,
} from '../machines/check-schedule.ts';
import type { AdhocRequest } from '../resources/adhoc-request.ts';
import type { Check } from '../resources/check.ts';
import { NotFound, StoreUnavailable } from '../resources/errors.ts';
import { isSubdued } from '../rules/subdue.ts';
import type { CheckRequested, TableReader } from '../store/decision.ts';
import type { LedgerCause } from '../store/ledger.ts';
import { entityKey, ringTurnsKey } from '../store/keyspace.ts';
import type { ActorSnapshot } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { RequestedCheck } from '../wire/check-request.ts';
import { checkRequest } from './check-request.ts';
import type { ReachedDeadline } from './deadline-wheel.ts';
import type { Decider } from './decide.ts';
import { ActorFailed } from './keyed-actors.ts';
import type { ActorKinds } from './kinds.ts';
import { type Rings, takeRingTurns } from './round-robin.ts';
import { firstTickOf, tickAfter } from './schedule-timing.ts';
import type { Scope, Sent } from './scope.ts';

const CHECKS = 'checks/';

export function checkOf(reader: TableReader, key: string): Check | undefined {
  const [namespace = '', name = ''] = key.split('/');
  return readResource(reader, 'checks', namespace, name);
}

/** Where the schedule of a check begins. Undefined when there is no such check. */
export function scheduleInput(reader: TableReader, key: string, nowMs: number): ScheduleInput | undefined {
  const check = checkOf(reader, key);
  return check === undefined ? undefined : { key, firstTickAtMs: firstTickOf(check, nowMs), waitsForMembers: false };
}

/** Where a schedule that was put to rest stands: at its armed deadline, or at the one that has just been reached. Undefined when there is no such check. */
export function scheduleSnapshot(
  reader: TableReader,
  key: string,
  armedAtMs: number | undefined,
): ActorSnapshot | undefined {
  if (checkOf(reader, key) === undefined) return undefined;
  return { value: 'scheduled', context: { key, nextTickAtMs: armedAtMs, waitsForMembers: false } };
}

/**
 * A check was created, edited or deleted. Only a change of what it is scheduled by moves the schedule; everything else is read at
 * the next tick.
 */
export function checkChanged(scope: Scope, namespace: string, name: string, previous: Check | undefined): void {
  const key = entityKey(namespace, name);
  const check = checkOf(scope.decision, key);
  scope.announce({ type: 'check.changed', namespace, name, check });
  if (check === undefined) {
    scope.delete('resources', ringTurnsKey(namespace, name));
    scope.send('check-schedule', key, { type: 'check.deleted' });
  } else if (previous === undefined) {
    const input = { key, firstTickAtMs: firstTickOf(check, scope.nowMs), waitsForMembers: check.round_robin };
    scope.create('check-schedule', key, input, 'check.created');
  } else if (isScheduledOtherwise(check, previous)) {
    scope.send('check-schedule', key, { type: 'schedule.changed', firstTickAtMs: firstTickOf(check, scope.nowMs) });
  }
}

const isScheduledOtherwise = (one: Check, other: Check): boolean =>
  one.interval !== other.interval || one.cron !== other.cron || one.round_robin !== other.round_robin;

/** Schedules have no record to be woken from: those that were forgotten are made again from their checks. */
export function restartSchedules(scope: Scope, schedules: ActorKinds['check-schedule']): void {
  for (const path of scope.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    if (!schedules.isAwake(key)) schedules.rebuild(scope.decision, key);
  }
}

/** The wall clock was set: each schedule goes on at its next tick. A calendar's time that it passed over comes now, so that no day is missed. */
export function rephaseSchedules(scope: Scope): void {
  for (const path of scope.decision.keys('resources', CHECKS)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(scope.decision, key);
    if (check === undefined || (check.cron !== undefined && isOverdue(scope, key))) continue;
    tellSchedule(scope, key, { type: 'schedule.changed', firstTickAtMs: firstTickOf(check, scope.nowMs) });
  }
}

function isOverdue(scope: Scope, key: string): boolean {
  const { nextTickAtMs = Infinity } = scheduleContext(tellSchedule(scope, key, { type: 'schedule.asked' }));
  return nextTickAtMs <= scope.nowMs;
}

/** A ring that was empty has a member: the checks that waited for one begin one interval from now. Calendars stay what they are. */
function ringsJoined(scope: Scope, namespace: string, subscriptions: readonly string[]): void {
  for (const path of scope.decision.keys('resources', `${CHECKS}${namespace}/`)) {
    const key = path.slice(CHECKS.length);
    const check = checkOf(scope.decision, key);
    if (check?.round_robin !== true || check.cron !== undefined) continue;
    if (!check.subscriptions.some((subscription) => subscriptions.includes(subscription))) continue;
    tellSchedule(scope, key, { type: 'ring.joined', firstTickAtMs: scope.nowMs + check.interval * 1_000 });
  }
}

export function checkDue(scope: Scope, { key, deadlineAtMs }: ReachedDeadline): void {
  const check = checkOf(scope.decision, key);
  if (check === undefined) return;
  const atMs = Math.max(deadlineAtMs, scope.nowMs);
  const nextTickAtMs = tickAfter(check, deadlineAtMs, atMs);
  scope.send('check-schedule', key, {
    type: 'deadline.reached',
    deadlineAtMs,
    atMs,
    nextTickAtMs,
    skip: reasonToSkip(check, atMs),
  });
}

function reasonToSkip({ publish, subdues }: Check, atMs: number): SkipReason | undefined {
  if (!publish) return 'not published';
  return isSubdued(subdues ?? [], atMs) ? 'subdued' : undefined;
}

/** Asks the agents of the check's subscriptions to run it. Whoever is offline does not hear of it later. */
export function requestCheck(scope: Scope, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(scope.decision, key);
  if (check === undefined) return;
  if (check.proxy_requests !== undefined) announceProxyRun(scope, check, undefined);
  else if (check.round_robin) requestInTurn(scope, check, rings);
  else announceRequest(scope, check, check.subscriptions, false);
}

/** Nobody is asked, and the turns go on. Those for entities that are not looked up stay where they are. */
export function passTurns(scope: Scope, { key }: ScheduleContext, rings: Rings): void {
  const check = checkOf(scope.decision, key);
  if (check?.round_robin === true && check.proxy_requests === undefined) takeRingTurns(scope, rings, check, 1);
}

function requestInTurn(scope: Scope, check: Check, rings: Rings): void {
  const agents = takeRingTurns(scope, rings, check, 1).flat();
  for (const agent of agents) announceRequest(scope, check, [`entity:${agent}`], false);
  if (agents.length > 0) return;
  const { namespace = '', name = '' } = check.metadata;
  scope.follow(() => {
    tellSchedule(scope, entityKey(namespace, name), noMembers(scope));
  });
}

export const noMembers = ({ nowMs }: Scope): ScheduleEvent => ({
  type: 'tick.skipped',
  atMs: nowMs,
  reason: 'no agents',
  detail: 'no agent is in a ring of its subscriptions',
});

/** Asks whoever is subscribed to one of `topics`. */
export function announceRequest(scope: Scope, config: RequestedCheck, topics: string[], adhoc: boolean): void {
  scope.announce({
    type: 'check.requested',
    namespace: config.metadata.namespace ?? '',
    subscriptions: topics,
    request: checkRequest(scope.decision, config, scope.nowS),
    adhoc,
  });
}

/** The entities are looked up elsewhere: that takes its time. `subscriptions` replaces those of the check in a run that a person asks for. */
function announceProxyRun(scope: Scope, check: Check, subscriptions: string[] | undefined, adhoc = false): void {
  const { namespace = '', name = '' } = check.metadata;
  const expressions = check.proxy_requests?.entity_attributes ?? [];
  const { cause, nowMs: atMs } = scope;
  scope.announce({
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
export function executeCheck(scope: Scope, key: string, { subscriptions, creator, reason }: AdhocRequest): number {
  const check = checkOf(scope.decision, key);
  if (check === undefined) throw new NotFound('not found');
  const asked = subscriptions ?? check.subscriptions;
  if (check.proxy_requests === undefined) announceRequest(scope, { ...check, subscriptions: asked }, asked, true);
  else announceProxyRun(scope, check, subscriptions, true);
  const details = { creator, reason, subscriptions: asked };
  scope.record({ actor: 'checks', key, from: null, event: 'check.requested', to: null, details });
  return scope.nowS;
}

/** Undefined when there is no schedule, or when it is in quarantine. */
export function tellSchedule(scope: Scope, key: string, event: ScheduleEvent): Sent | undefined {
  return scope.isQuarantined('check-schedule', key) ? undefined : scope.send('check-schedule', key, event);
}

export const scheduleContext = (sent: Sent | undefined): Partial<ScheduleContext> => sent?.snapshot?.context ?? {};

/** On record when it is not what the tick before came to, so that every tick is explained by the entry before it. */
export function explainSkip(scope: Scope, { key }: ScheduleContext, { reason, detail }: SkippedTick): void {
  const details = { reason, ...(detail === undefined ? {} : { detail }) };
  scope.record({ actor: 'checks', key, from: null, event: 'tick.skipped', to: null, details });
}

export function explainRun(scope: Scope, { key }: ScheduleContext): void {
  scope.record({ actor: 'checks', key, from: null, event: 'ticks.resumed', to: null });
}

/** As `ringsJoined`, by whoever sees agents come; it does not throw either. */
export function reportRings(decider: Decider, namespace: string, subscriptions: readonly string[]): void {
  report(decider, { restore: true }, (scope) => {
    ringsJoined(scope, namespace, subscriptions);
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
  report(decider, { deadlineAtMs: atMs }, (scope) => {
    tellSchedule(scope, key, { type: 'request.sent', atMs, sessions });
  });
}

function report(decider: Decider, cause: LedgerCause, run: (scope: Scope) => void): void {
  try {
    decider.decide({ cause, unbounded: true }, run);
  } catch (error) {
    if (!(error instanceof ActorFailed || error instanceof StoreUnavailable)) throw error;
  }
}
