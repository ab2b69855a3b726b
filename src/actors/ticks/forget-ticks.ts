import { tickHistoryKey } from '../../store/encoding/keyspace.ts';
import type { TickRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Deletes the streaks of a record of ticks that ended before the retention, and a record without others. */
export function forgetTicks(ctx: DecisionContext, key: string): void {
  const record = ctx.get('ticks', key);
  if (record === undefined) return;
  const sinceMs = ctx.nowMs - ctx.settings.watchRetentionMs;
  const streaks = record.streaks.filter(({ toMs }) => toMs >= sinceMs);
  if (streaks.length === 0 && !isOpen(ctx, key, record)) ctx.delete('ticks', key);
  else if (streaks.length < record.streaks.length) ctx.put('ticks', key, { ...record, streaks });
}

/** Whether a check with this record is scheduled, an existing agent is not connected, or there are history records. */
function isOpen(ctx: DecisionContext, key: string, { next, history, awaySinceMs }: TickRecord): boolean {
  if (next !== undefined || history.some((id) => ctx.get('ticks', tickHistoryKey(key, id)) !== undefined)) return true;
  return awaySinceMs !== undefined && ctx.get('resources', key.replace(/^agents\//, 'entities/')) !== undefined;
}
