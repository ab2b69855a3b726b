import type { BlindIntervalAt, Excerpt } from './explanation.ts';
import { entriesOfActor, type LedgerReader } from './key-history.ts';

/** The maximum number of blind intervals that are explained, the oldest first. */
const MAX_INTERVALS = 20;

/** Finds the intervals within a time in which the backend received nothing. The last one can end after it. */
export async function blindTimesOf(
  ledger: LedgerReader,
  fromMs: number,
  atMs: number,
): Promise<Excerpt<BlindIntervalAt>> {
  const { entries, hasMore } = await entriesOfActor(ledger, {
    actor: 'backend',
    sinceMs: fromMs,
    isEnough: (entry) => entry.atMs > atMs,
    limit: MAX_INTERVALS,
  });
  const items = entries.flatMap(({ atMs: endMs, event, from, details }) => {
    const blindMs = details?.['blindMs'];
    if (from !== 'blind' || typeof blindMs !== 'number' || blindMs === 0 || endMs - blindMs > atMs) return [];
    return [{ beginMs: endMs - blindMs, endMs, event }];
  });
  return { items, hasMore };
}
