import { createHash } from 'node:crypto';
import type { ScheduleContext, ScheduleInput } from '../machines/check-schedule.ts';
import type { Check } from '../resources/check.ts';
import { firstTickAtMs } from '../rules/splay.ts';
import type { TableReader } from '../store/decision.ts';
import { entityKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import type { ReachedDeadline } from './deadline-wheel.ts';
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

export function checkDue(scope: Scope, { key, deadlineAtMs, atMs }: ReachedDeadline): void {
  const published = checkOf(scope.decision, key)?.publish ?? false;
  scope.send('check-schedule', key, { type: 'deadline.reached', deadlineAtMs, atMs, published });
}

/** Asks the agents of the check's subscriptions to run it. Whoever is offline does not hear of it later. */
export function requestCheck(scope: Scope, { key }: ScheduleContext): void {
  const check = checkOf(scope.decision, key);
  if (check === undefined) return;
  scope.announce({
    type: 'check.requested',
    namespace: check.metadata.namespace ?? '',
    subscriptions: check.subscriptions,
    request: { config: check, assets: null, hooks: null, issued: scope.nowS, hook_assets: {} },
  });
}
