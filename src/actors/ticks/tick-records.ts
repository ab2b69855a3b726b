import { tickHistoryKey } from '../../store/encoding/keyspace.ts';
import type { TickRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Streaks in the record that is rewritten with each of them. Beyond them the older ones move to a history record. */
const MAX_STREAKS = 32;
const MOVED_STREAKS = 24;
/** History records of one key. Beyond them the oldest is deleted, although its ticks are within the retention. */
export const MAX_HISTORY_RECORDS = 64;

export const EMPTY: TickRecord = { streaks: [], history: [] };

/** Stores a record of ticks, and moves its older streaks to its history when there are many. */
export function putTicks(ctx: DecisionContext, key: string, record: TickRecord): void {
  ctx.put('ticks', key, record.streaks.length > MAX_STREAKS ? moved(ctx, key, record) : record);
}

function moved(ctx: DecisionContext, key: string, record: TickRecord): TickRecord {
  const older = record.streaks.slice(0, MOVED_STREAKS);
  // The clock may have been set back: ids only increase.
  const id = Math.max(older[0]?.fromMs ?? 0, (record.history.at(-1) ?? 0) + 1);
  ctx.put('ticks', tickHistoryKey(key, id), { streaks: older, history: [] });
  const history = [...record.history, id];
  while (history.length > MAX_HISTORY_RECORDS) ctx.delete('ticks', tickHistoryKey(key, history.shift() ?? 0));
  return { ...record, streaks: record.streaks.slice(MOVED_STREAKS), history };
}
