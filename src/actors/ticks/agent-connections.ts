import { agentTicksKey } from '../../store/encoding/keyspace.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { EMPTY, putTicks } from './tick-records.ts';

export const NOT_CONNECTED = 'the agent was not connected';

/** The last connection of an agent ended. `key` is `<namespace>/<agent>`. */
export function recordAgentDisconnected(ctx: DecisionContext, key: string): void {
  const record = ctx.get('ticks', agentTicksKey(key)) ?? EMPTY;
  if (record.awaySinceMs === undefined) putTicks(ctx, agentTicksKey(key), { ...record, awaySinceMs: ctx.nowMs });
}

/** An agent connected. */
export function recordAgentConnected(ctx: DecisionContext, key: string): void {
  const record = ctx.get('ticks', agentTicksKey(key));
  if (record?.awaySinceMs === undefined) return;
  const { awaySinceMs: fromMs, ...rest } = record;
  const away = { outcome: 'lost', reason: NOT_CONNECTED, fromMs, toMs: ctx.nowMs, everyMs: 0, isWhole: true } as const;
  putTicks(ctx, agentTicksKey(key), { ...rest, streaks: [...record.streaks, away] });
}
