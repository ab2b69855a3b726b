import { type CheckTtlContext, ttlDeadlineAtMs, ttlRepeat } from '../machines/check-ttl.ts';
import type { CheckEvent } from '../resources/event.ts';
import { eventAddress } from '../store/keyspace.ts';
import type { ActorSnapshot } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { ReachedDeadline, StoredDeadline } from './deadline-wheel.ts';
import { keepaliveStatusOf, withBlindTime } from './keepalives.ts';
import { mergeEvent, replaceSwitch } from './merge-event.ts';
import type { Scope } from './scope.ts';

/** A switch has come to its end: tell its actor what is known, and store where it stands then. */
export function ttlExpired(scope: Scope, { key, deadlineAtMs, atMs, graceMs, blindMs }: ReachedDeadline): void {
  const record = scope.get('events', key);
  if (record?.ttl === undefined) return;
  const { namespace, entity } = eventAddress(key);
  const { lastReceivedAtMs, graceMs: graceBeforeMs } = record.ttl.context as CheckTtlContext;
  if (graceMs !== graceBeforeMs) scope.details = { blindMs };
  const sent = scope.send('check-ttl', key, {
    type: 'deadline.reached',
    deadlineAtMs,
    elapsedMs: atMs - lastReceivedAtMs - graceMs,
    graceMs,
    entityExists: readResource(scope.decision, 'entities', namespace, entity) !== undefined,
    eventExists: true,
    keepaliveStatus: keepaliveStatusOf(scope, namespace, entity),
  });
  if (sent !== undefined) replaceSwitch(scope, key, record, sent.snapshot);
}

/**
 * Merges the alert that no result came: the stored check's configuration with what is known now. It keeps the id of the last
 * real result, so that in the ledger its cause is the deadline and not that event.
 */
export function publishTtlExpiry(scope: Scope, { key, alertStatus, lastReceivedAtMs }: CheckTtlContext): void {
  const stored = scope.get('events', key)?.event;
  if (stored === undefined) return;
  const silentS = Math.floor((scope.steadyMs - lastReceivedAtMs) / 1_000);
  const expiry: CheckEvent = {
    ...stored,
    timestamp: scope.nowS,
    check: {
      ...stored.check,
      status: alertStatus,
      output: `Last check execution was ${silentS} seconds ago`,
      executed: scope.nowS,
      issued: 0,
      duration: undefined,
      hooks: undefined,
      processed_by: undefined,
      secrets: null,
      subdues: undefined,
    },
  };
  const alert = withBlindTime(scope, expiry);
  scope.follow(() => {
    mergeEvent(scope, alert, { trustsSentHistory: false, isExpiry: true, cause: scope.cause });
  });
}

/** When a stored switch is due, and the input that counts from. */
export function ttlDeadline({ context }: ActorSnapshot): StoredDeadline {
  const ttl = context as CheckTtlContext;
  return { atMs: ttlDeadlineAtMs(ttl), sinceMs: ttl.lastReceivedAtMs, repeat: ttlRepeat(ttl) };
}
