import { createHash } from 'node:crypto';
import type { ScheduleContext, ScheduleInput, SkippedTick } from '../machines/check-schedule.ts';
import type { AdhocRequest } from '../resources/adhoc-request.ts';
import type { Check } from '../resources/check.ts';
import { NotFound, StoreUnavailable } from '../resources/errors.ts';
import { firstTickAtMs } from '../rules/splay.ts';
import type { CheckRequested, TableReader } from '../store/decision.ts';
import { entityKey } from '../store/keyspace.ts';
import type { ActorSnapshot } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { ReachedDeadline } from './deadline-wheel.ts';
import type { Decider } from './decide.ts';
import { ActorFailed } from './keyed-actors.ts';
import type { ActorKinds } from './kinds.ts';
import type { Scope } from './scope.ts';

const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();

function checkOf(reader: TableReader, key: string): Check | undefined {
  const [namespace = '', name = ''] = key.split('/');
  return readResource(reader, 'checks', namespace, name);
}

/** Where the schedule of a check begins: on its grid, never at once. Undefined when there is no such check. */
export function scheduleInput(reader: TableReader, key: string, nowMs: number): ScheduleInput | undefined {
  const check = checkOf(reader, key);
  return check === undefined ? undefined : { key, ...timingOf(check, nowMs) };
}

/**
 * Where a schedule that was put to rest stands: its armed deadline, or, when that has just been reached, the last point of
 * its grid. Undefined when there is no such check.
 */
export function scheduleSnapshot(
  reader: TableReader,
  key: string,
  armedAtMs: number | undefined,
  nowMs: number,
): ActorSnapshot | undefined {
  const input = scheduleInput(reader, key, nowMs);
  if (input === undefined) return undefined;
  const { intervalMs, firstTickAtMs: nextAtMs } = input;
  const reachedAtMs = nextAtMs === nowMs ? nowMs : nextAtMs - intervalMs;
  return { value: 'scheduled', context: { key, intervalMs, nextTickAtMs: armedAtMs ?? reachedAtMs } };
}

function timingOf({ metadata, interval }: Check, nowMs: number) {
  return { intervalMs: interval * 1_000, firstTickAtMs: firstTickAtMs(md5, metadata.name ?? '', interval, nowMs) };
}

/** A check was created, edited or deleted. Only a change of the interval moves the schedule; everything else is read at the next tick. */
export function checkChanged(scope: Scope, namespace: string, name: string, previous: Check | undefined): void {
  const key = entityKey(namespace, name);
  const check = checkOf(scope.decision, key);
  if (check === undefined) {
    scope.send('check-schedule', key, { type: 'check.deleted' });
  } else if (previous === undefined) {
    scope.create('check-schedule', key, { key, ...timingOf(check, scope.nowMs) }, 'check.created');
  } else if (previous.interval !== check.interval) {
    scope.send('check-schedule', key, { type: 'schedule.changed', ...timingOf(check, scope.nowMs) });
  }
}

/** Schedules have no record to be woken from: those that were forgotten are made again from their checks. */
export function restartSchedules(scope: Scope, schedules: ActorKinds['check-schedule']): void {
  for (const path of scope.decision.keys('resources', 'checks/')) {
    const key = path.slice('checks/'.length);
    if (!schedules.isAwake(key)) schedules.rebuild(scope.decision, key);
  }
}

/** The wall clock was set: each schedule goes on at the next point of its grid. */
export function rephaseSchedules(scope: Scope): void {
  for (const path of scope.decision.keys('resources', 'checks/')) {
    const key = path.slice('checks/'.length);
    const check = checkOf(scope.decision, key);
    if (check === undefined || scope.isQuarantined('check-schedule', key)) continue;
    scope.send('check-schedule', key, { type: 'schedule.changed', ...timingOf(check, scope.nowMs) });
  }
}

export function checkDue(scope: Scope, { key, deadlineAtMs }: ReachedDeadline): void {
  const published = checkOf(scope.decision, key)?.publish ?? false;
  const atMs = Math.max(deadlineAtMs, scope.nowMs);
  scope.send('check-schedule', key, { type: 'deadline.reached', deadlineAtMs, atMs, published });
}

/** Asks the agents of the check's subscriptions to run it. Whoever is offline does not hear of it later. */
export function requestCheck(scope: Scope, { key }: ScheduleContext): void {
  const check = checkOf(scope.decision, key);
  if (check !== undefined) announceRequest(scope, check, check.subscriptions, false);
}

function announceRequest(scope: Scope, check: Check, subscriptions: string[], adhoc: boolean): void {
  scope.announce({
    type: 'check.requested',
    namespace: check.metadata.namespace ?? '',
    subscriptions,
    request: { config: { ...check, subscriptions }, assets: null, hooks: null, issued: scope.nowS, hook_assets: {} },
    adhoc,
  });
}

/** Whatever the schedule of the check says, which goes on as it is. When it was issued, Unix seconds. @throws NotFound */
export function executeCheck(scope: Scope, key: string, { subscriptions, creator, reason }: AdhocRequest): number {
  const check = checkOf(scope.decision, key);
  if (check === undefined) throw new NotFound('not found');
  announceRequest(scope, check, subscriptions ?? check.subscriptions, true);
  const details = { creator, reason, ...(subscriptions === undefined ? {} : { subscriptions }) };
  scope.record({ actor: 'checks', key, from: null, event: 'check.requested', to: null, details });
  return scope.nowS;
}

/**
 * Tells the schedule how many sessions its request went out to. Called by whoever hears announcements, so it does not
 * throw: of an actor that failed and of a store that fails somebody else tells.
 */
export function reportRequest(decider: Decider, { adhoc, request, namespace }: CheckRequested, sessions: number): void {
  if (adhoc) return;
  const key = entityKey(namespace, request.config.metadata.name ?? '');
  const atMs = request.issued * 1_000;
  try {
    decider.decide({ cause: { deadlineAtMs: atMs }, unbounded: true }, (scope) => {
      if (scope.isQuarantined('check-schedule', key)) return;
      scope.send('check-schedule', key, { type: 'request.sent', atMs, sessions });
    });
  } catch (error) {
    if (!(error instanceof ActorFailed || error instanceof StoreUnavailable)) throw error;
  }
}

/** Where the schedule of a check stands. What was before the start of this process is not known. */
export interface ScheduleStatus {
  intervalS: number;
  /** Undefined while the schedule is in quarantine. */
  nextTickAtMs: number | undefined;
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
}

/** Asks the actor itself: no record has it. Undefined when there is no such check. @throws StoreUnavailable */
export function scheduleStatus(decider: Decider, namespace: string, name: string): ScheduleStatus | undefined {
  const key = entityKey(namespace, name);
  return decider.decide({ cause: { restore: true }, unbounded: true }, (scope) => {
    const check = checkOf(scope.decision, key);
    if (check === undefined) return undefined;
    const sent = scope.isQuarantined('check-schedule', key)
      ? undefined
      : scope.send('check-schedule', key, { type: 'schedule.asked' });
    const { nextTickAtMs, lastRunAtMs, lastSkip } = (sent?.snapshot?.context ?? {}) as Partial<ScheduleContext>;
    return { intervalS: check.interval, nextTickAtMs, lastRunAtMs, lastSkip };
  }).result;
}
