import type { Outage } from './outages.ts';
import type { PendingRun, PendingRuns } from './pending-runs.ts';

/**
 * The maximum number of notifications that wait for unreachable handlers, so that room is left in the outbox for the
 * others. Beyond it the oldest ones of the handler with the most become dead letters.
 */
const MAX_HELD = 50_000;
/** Size of their events. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;

const canEnd = ({ isRunning, isSettled }: PendingRun): boolean => !isRunning && !isSettled;

/**
 * Returns the monotonic time at which the retry time of a run begins: with its first attempt, or when it waits for a handler that
 * is unreachable. Undefined before.
 */
export const retriedSinceMs = (run: PendingRun, outage: Outage | undefined): number | undefined =>
  run.retriedSinceMs ??
  (outage !== undefined && outage.level > 0 ? Math.max(run.addedMs, outage.unreachableSinceMs) : undefined);

/** Returns the runs of a handler whose retry time is over, and the monotonic time at which that of the next one is. */
export function expiredRuns(
  outage: Outage,
  { runs, retryForMs, nowMs }: { runs: Iterable<PendingRun>; retryForMs: number; nowMs: number },
): { expired: PendingRun[]; nextMs: number | undefined } {
  const expired: PendingRun[] = [];
  let nextMs: number | undefined;
  for (const run of runs) {
    // A handler that is no longer tried again may still get one attempt for each of its runs.
    const sinceMs = retryForMs > 0 ? retriedSinceMs(run, outage) : run.retriedSinceMs;
    if (sinceMs === undefined || !canEnd(run)) continue;
    if (sinceMs + retryForMs <= nowMs) expired.push(run);
    else nextMs = Math.min(nextMs ?? Infinity, sinceMs + retryForMs);
  }
  return { expired, nextMs };
}

/** Returns the run to end, if any, because too many wait for unreachable handlers. */
export function excessRun(
  unreachable: Iterable<Outage>,
  pending: PendingRuns,
): { run: PendingRun; reason: string } | undefined {
  const held = [...unreachable].map((outage) => ({ outage, ...pending.of(outage) }));
  const count = held.reduce((sum, one) => sum + one.count, 0);
  const bytes = held.reduce((sum, one) => sum + one.bytes, 0);
  if (count <= MAX_HELD && bytes <= MAX_HELD_BYTES) return undefined;
  const size = count > MAX_HELD ? 'count' : 'bytes';
  const [largest] = held.sort((one, other) => other[size] - one[size]);
  for (const run of largest?.runs ?? []) {
    const reason = `too many events wait for handlers that cannot be reached: ${largest?.outage.reason ?? ''}`;
    if (canEnd(run)) return { run, reason };
  }
  return undefined;
}
