import type { CheckTtlContext } from '../../machines/check-ttl.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { ttlAlertOutput } from '../../rules/alert-output.ts';
import { eventAddress, eventKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { ReachedDeadline } from '../time/deadline-queue.ts';
import { blindMsOf, withBlindTime } from './blind-annotation.ts';
import { KEEPALIVE, mergeEvent, replaceTtl } from './merge-event.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Handles the deadline of a check TTL: sends the data of the stored event to the actor and stores its new snapshot. */
export function ttlExpired(ctx: DecisionContext, { key, deadlineAtMs, atMs, graceMs, blindMs }: ReachedDeadline): void {
  const record = ctx.get('events', key);
  const before = ctx.snapshot('check-ttl', key);
  if (record?.ttl === undefined || before === undefined) return;
  const { namespace, entity } = eventAddress(key);
  const { lastReceivedAtMs, graceMs: graceBeforeMs } = before.context as CheckTtlContext;
  const details = graceMs === graceBeforeMs ? undefined : { blindMs };
  const event = {
    type: 'deadline.reached',
    deadlineAtMs,
    elapsedMs: atMs - lastReceivedAtMs - graceMs,
    graceMs,
    entityExists: readResource(ctx.decision, 'entities', namespace, entity) !== undefined,
    eventExists: true,
    keepaliveStatus: keepaliveStatusOf(ctx, namespace, entity),
  } as const;
  const sent = ctx.send('check-ttl', key, event, details);
  if (sent !== undefined) replaceTtl(ctx, key, record, sent.snapshot);
}

/**
 * Merges the alert for a missing result, with the configuration of the stored check. The alert keeps the id of the last real
 * result, because the cause in the ledger is the deadline and not that event.
 */
export function publishTtlExpiry(
  ctx: DecisionContext,
  { key, alertStatus, lastReceivedAtMs, ttlMs }: CheckTtlContext,
): void {
  const stored = ctx.get('events', key)?.event;
  if (stored === undefined) return;
  const silentS = Math.floor((ctx.steadyMs - lastReceivedAtMs) / 1_000);
  const expiry: CheckEvent = {
    ...stored,
    timestamp: ctx.nowS,
    check: {
      ...stored.check,
      status: alertStatus,
      output: ttlAlertOutput(silentS),
      executed: ctx.nowS,
      issued: 0,
      duration: undefined,
      hooks: undefined,
      processed_by: undefined,
      secrets: null,
      subdues: undefined,
    },
  };
  const alert = withBlindTime(ctx, expiry);
  const overdue = { lastReceivedAtMs, limitMs: ttlMs, blindMs: blindMsOf(ctx) };
  ctx.follow(() => {
    mergeEvent(ctx, alert, { trustsSentHistory: false, isExpiry: true, cause: ctx.cause, overdue });
  });
}

/** Returns the status of the entity's keepalive event; 0 when there is none. */
function keepaliveStatusOf(ctx: DecisionContext, namespace: string, entity: string): number {
  return ctx.get('events', eventKey(namespace, entity, KEEPALIVE))?.event.check.status ?? 0;
}
