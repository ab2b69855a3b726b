import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import { type CheckTtlContext, checkTtlMachine, ttlDeadlineAtMs, ttlRepeat } from '../../machines/check-ttl.ts';
import { UNKNOWN_INPUT } from '../time/blind-time.ts';
import type { StoredDeadline } from '../time/deadline-queue.ts';

/**
 * Returns the deadline of a stored snapshot. A snapshot of another machine version is due immediately, and its actor is then rebuilt.
 */
export function ttlDeadline({ context, version }: ActorSnapshot): StoredDeadline {
  if (version !== checkTtlMachine.version) return { atMs: 0, sinceMs: UNKNOWN_INPUT };
  const ttl = context as CheckTtlContext;
  return { atMs: ttlDeadlineAtMs(ttl), sinceMs: ttl.lastReceivedAtMs, repeat: ttlRepeat(ttl) };
}
