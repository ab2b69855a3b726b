import { OUTAGES_KEY } from '../../store/keyspace.ts';
import type { TickStreak } from '../../rules/tick-streaks.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { BlindInterval } from '../time/blind-time.ts';

/** The outages that explain ticks that are not recorded yet. Beyond this number the oldest are forgotten. */
const MAX_OUTAGES = 500;
/** A request that was due this long before an outage may have been lost in it. */
const BEFORE_MS = 5_000;

/** Why ticks were lost, by what ended the blind interval. Ticks are taken while only the readers are paused. */
const REASONS: Readonly<Record<string, string>> = {
  'process.started': 'the backend was down',
  'process.resumed': 'the backend was suspended',
  'store.recovered': 'the store could not be written',
};

/** Records the time in which the backend could not take ticks. `interval` is in steady time. */
export function recordOutage(ctx: DecisionContext, event: string, { beginMs, endMs }: BlindInterval): void {
  const reason = REASONS[event];
  if (reason === undefined) return;
  const leadMs = ctx.nowMs - ctx.steadyMs;
  const [fromMs, toMs] = [beginMs + leadMs, endMs + leadMs];
  const outage: TickStreak = { outcome: 'lost', reason, fromMs, toMs, everyMs: 0, isWhole: true };
  const streaks = [...outagesOf(ctx), outage].slice(-MAX_OUTAGES);
  ctx.put('ticks', OUTAGES_KEY, { streaks, history: [] });
}

export const outagesOf = (ctx: DecisionContext): readonly TickStreak[] => ctx.get('ticks', OUTAGES_KEY)?.streaks ?? [];

/** Returns the outage in which a tick that was due at this time was lost; undefined when the backend was up. */
export const outageOf = (outages: readonly TickStreak[], atMs: number): TickStreak | undefined =>
  outages.findLast(({ fromMs, toMs }) => fromMs - BEFORE_MS <= atMs && atMs <= toMs);
