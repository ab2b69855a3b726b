import type { ActorSnapshot } from './actor-snapshot.ts';
import { type CheckTtlContext, type CheckTtlInput, checkTtlMachine } from './check-ttl.ts';

const { version = '' } = checkTtlMachine;

/** The snapshot after a result that the actor could not be sent, because it is in quarantine; `ttlMs` is above 0. */
export const ttlAfterResult = (result: CheckTtlInput): ActorSnapshot => armed(result);

/** What the stored event of a check with an armed TTL says. */
export interface TtlFacts {
  ttlMs: number;
  alertStatus: number;
  /** Of the last alert, where the stored event is one, by the wall clock. */
  expiry: { atS: number; silentS: number } | undefined;
}

/**
 * The snapshot that follows from domain data, for a stored one that cannot be used. After an alert it is in the state of that
 * alert, and its deadline lies at most two seconds from where it was. Before one, when the last result came is not known by the
 * backend's clock: the check gets its whole TTL once more.
 */
export function rebuiltTtl(key: string, { ttlMs, alertStatus, expiry }: TtlFacts, nowMs: number): ActorSnapshot {
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
