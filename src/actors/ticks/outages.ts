import { OUTAGES_KEY } from '../../store/encoding/keyspace.ts';
import { DOWN } from '../../rules/entity-ticks.ts';
import type { TickStreak } from '../../rules/tick-streaks.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { BlindInterval } from '../time/blind-time.ts';

/** The outages that explain ticks that are not recorded yet. Beyond this number the oldest are forgotten. */
const MAX_OUTAGES = 500;
/** Two outages whose starts differ by less are the same. */
const SAME_MS = 1_000;
const LEAD_KEY = 'wall-lead';
const MAX_LEAD_DRIFT_MS = 500;
/** A request that was due this long before an outage may have been lost in it. */
const BEFORE_MS = 5_000;

/** Why ticks were lost, by what ended the blind interval. Ticks are taken while only the readers are paused. */
const REASONS: Readonly<Record<string, string>> = {
  'process.started': DOWN,
  'process.resumed': 'the backend was suspended',
  'store.recovered': 'the store could not be written',
};

/** Records the time in which the backend could not take ticks. `interval` is in steady time. */
export function recordOutage(ctx: DecisionContext, event: string, { beginMs, endMs }: BlindInterval): void {
  const reason = REASONS[event];
  if (reason === undefined) return;
  const leadMs = leadOf(ctx);
  const beganLeadMs = event === 'process.started' ? storedLead(ctx) : leadMs;
  // Schedules continue at the time of the decision.
  const [fromMs, toMs] = [beginMs + beganLeadMs, Math.max(endMs + leadMs, ctx.nowMs)];
  const outage: TickStreak = { outcome: 'lost', reason, fromMs, toMs, everyMs: 0, isWhole: true };
  const streaks = [...outagesOf(ctx), outage].slice(-MAX_OUTAGES);
  ctx.put('ticks', OUTAGES_KEY, { streaks, history: [] });
}

/** How far the wall clock is ahead of steady time, ms. */
const leadOf = ({ nowMs, steadyMs }: DecisionContext): number => nowMs - steadyMs;

const storedLead = (ctx: DecisionContext): number => (ctx.get('meta', LEAD_KEY) as number | undefined) ?? leadOf(ctx);

/** Stores how far the wall clock is ahead when that has changed: after a restart, an earlier steady time is known by it only. */
export function storeLead(ctx: DecisionContext): void {
  const stored = ctx.get('meta', LEAD_KEY) as number | undefined;
  const leadMs = leadOf(ctx);
  if (stored === undefined || Math.abs(stored - leadMs) > MAX_LEAD_DRIFT_MS) ctx.put('meta', LEAD_KEY, leadMs);
}

/** The stored outages, and those of this process whose record was lost or is not made yet. */
export function outagesOf(ctx: DecisionContext): readonly TickStreak[] {
  const stored = ctx.get('ticks', OUTAGES_KEY)?.streaks ?? [];
  const noted = ctx.ticks.noted.flatMap(({ event, beginMs, endMs }): TickStreak[] => {
    const reason = REASONS[event];
    const fromMs = beginMs + leadOf(ctx);
    if (reason === undefined || stored.some((outage) => Math.abs(outage.fromMs - fromMs) < SAME_MS)) return [];
    return [{ outcome: 'lost', reason, fromMs, toMs: endMs + leadOf(ctx), everyMs: 0, isWhole: true }];
  });
  return noted.length === 0 ? stored : [...stored, ...noted];
}

/** Returns the outage in which a tick that was due at this time was lost; undefined when the backend was up. */
export const outageOf = (outages: readonly TickStreak[], atMs: number): TickStreak | undefined =>
  outages.findLast(({ fromMs, toMs }) => fromMs - BEFORE_MS <= atMs && atMs <= toMs);
