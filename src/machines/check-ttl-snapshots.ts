import { elapsedAtAlertMs } from '../rules/alert-output.ts';
import type { ActorSnapshot } from './actor-snapshot.ts';
import { type CheckTtlContext, type CheckTtlInput, checkTtlMachine } from './check-ttl.ts';

const { version = '' } = checkTtlMachine;

/** Whether a result with this TTL changes nothing of the snapshot but its deadline, as in the state `registered` of the machine. */
export const movesDeadlineOnly = ({ value, version: written }: ActorSnapshot, ttlMs: number): boolean =>
  value === 'registered' && written === version && ttlMs > 0;

/** Returns the snapshot after a result that the actor does not receive. `ttlMs` is above 0. */
export const ttlAfterResult = (result: CheckTtlInput): ActorSnapshot => armed(result);

/** The data of the stored event of a check with an armed TTL. */
export interface StoredTtl {
  ttlMs: number;
  alertStatus: number;
  /** The last alert in wall time, with the grace that it had, if the stored event is one. */
  expiry: { atS: number; silentS: number; graceMs: number } | undefined;
}

/**
 * Rebuilds the snapshot from domain data, to replace a stored one that cannot be used. After an alert it has the state of that
 * alert, and its deadline differs by at most two seconds. Before an alert the receipt of the last result is unknown, so that the
 * check gets its whole TTL again.
 */
export function rebuiltTtl(key: string, { ttlMs, alertStatus, expiry }: StoredTtl, nowMs: number): ActorSnapshot {
  if (expiry === undefined) return armed({ key, ttlMs, alertStatus, atMs: nowMs });
  const { graceMs } = expiry;
  const lastReceivedAtMs = receivedBeforeMs(expiry, nowMs);
  const tickMs = (Math.floor(elapsedAtAlertMs(expiry) / ttlMs) + 1) * ttlMs;
  const context: CheckTtlContext = { key, ttlMs, alertStatus, lastReceivedAtMs, tickMs, graceMs };
  return { value: alertStatus >= 2 ? 'critical' : 'warning', context, version };
}

/** Returns the receipt of the last result before an alert, in steady time, ms. */
export const receivedBeforeMs = ({ atS, silentS }: { atS: number; silentS: number }, nowMs: number): number =>
  Math.min(nowMs, atS * 1_000) - silentS * 1_000;

function armed({ key, ttlMs, alertStatus, atMs }: CheckTtlInput): ActorSnapshot {
  const context: CheckTtlContext = { key, ttlMs, alertStatus, lastReceivedAtMs: atMs, tickMs: ttlMs, graceMs: 0 };
  return { value: 'registered', context, version };
}
