import type { ActorSnapshot } from './actor-snapshot.ts';
import { type CheckTtlContext, type CheckTtlInput, checkTtlMachine } from './check-ttl.ts';

const { version = '' } = checkTtlMachine;

/** Returns the snapshot after a result that a quarantined actor could not receive. `ttlMs` is above 0. */
export const ttlAfterResult = (result: CheckTtlInput): ActorSnapshot => armed(result);

/** The data of the stored event of a check with an armed TTL. */
export interface StoredTtl {
  ttlMs: number;
  alertStatus: number;
  /** The last alert in wall time, if the stored event is one. */
  expiry: { atS: number; silentS: number } | undefined;
}

/**
 * Rebuilds the snapshot from domain data, to replace a stored one that cannot be used. After an alert it has the state of that
 * alert, and without blind time since the last result its deadline differs by at most two seconds. The grace of the last alert
 * is not stored in the event: if blind time delayed that alert, it is repeated at once, and the repeats continue as before.
 * Before an alert the receipt of the last result is unknown, so that the check gets its whole TTL again.
 */
export function rebuiltTtl(key: string, { ttlMs, alertStatus, expiry }: StoredTtl, nowMs: number): ActorSnapshot {
  if (expiry === undefined) return armed({ key, ttlMs, alertStatus, atMs: nowMs });
  const elapsedMs = expiry.silentS * 1_000;
  const lastReceivedAtMs = Math.min(nowMs, expiry.atS * 1_000) - elapsedMs;
  const tickMs = (Math.floor(elapsedMs / ttlMs) + 1) * ttlMs;
  const context: CheckTtlContext = { key, ttlMs, alertStatus, lastReceivedAtMs, tickMs, graceMs: 0 };
  return { value: alertStatus >= 2 ? 'critical' : 'warning', context, version };
}

function armed({ key, ttlMs, alertStatus, atMs }: CheckTtlInput): ActorSnapshot {
  const context: CheckTtlContext = { key, ttlMs, alertStatus, lastReceivedAtMs: atMs, tickMs: ttlMs, graceMs: 0 };
  return { value: 'registered', context, version };
}
