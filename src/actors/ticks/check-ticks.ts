import type { Check } from '../../resources/check.ts';
import { covers, type TickResult, type TickStreak, withoutTick, withTick } from '../../rules/tick-streaks.ts';
import { checkTicksKey } from '../../store/encoding/keyspace.ts';
import type { NextTick, TickRecord } from '../../store/records/records.ts';
import { readResource } from '../../store/resource-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { tickAfter } from './schedule-timing.ts';
import { filled, LATE } from './tick-gaps.ts';
import { EMPTY, putTicks } from './tick-records.ts';

/** The tick that the decision is about, Unix ms; undefined in other decisions. */
export const tickOf = ({ cause }: DecisionContext): number | undefined =>
  'deadlineAtMs' in cause ? cause.deadlineAtMs : undefined;

/** Records the outcome of the tick that the decision is about. `nextTickAtMs` is the next tick of the schedule. */
export function recordTick(
  ctx: DecisionContext,
  key: string,
  result: TickResult,
  nextTickAtMs: number | undefined,
): void {
  const atMs = tickOf(ctx);
  if (atMs !== undefined) recordTickAt(ctx, key, atMs, result, nextTickAtMs);
}

export function recordTickAt(
  ctx: DecisionContext,
  key: string,
  atMs: number,
  outcome: TickResult,
  nextTickAtMs: number | undefined,
): void {
  const { ticks } = ctx;
  const result = { ...outcome, asks: asksOf(checkOf(ctx, key)) };
  const record = recordOf(ctx, key);
  const known = record.streaks.findLast((streak) => streak.isWhole !== true && covers(streak, atMs));
  // Until here the tick is undecided, so that it is not filled in itself.
  const earlier = known === undefined ? filled(ctx, key, record, { untilMs: atMs }) : record.streaks;
  ticks.decided(key, atMs);
  if (known === undefined) {
    const streaks = withTick(earlier, atMs, result);
    ticks.counts[result.outcome] += 1;
    if (result.outcome !== 'lost') ticks.missed.delete(key);
    const next = nextTick(ctx, key, nextTickAtMs) ?? record.next;
    const passed = next && { ...next, atMs: tickAfter(next, atMs, atMs) };
    const passedFrom = record.next !== undefined && record.next.atMs > atMs ? record.next : passed;
    put(ctx, key, withPassed(ctx, key, { ...record, streaks, next }, passedFrom));
    return;
  }
  const better = betterResult(known, result);
  if (better === undefined) return;
  ticks.counts[known.outcome] -= 1;
  ticks.counts[better.outcome] += 1;
  put(ctx, key, { ...record, streaks: withTick(withoutTick(record.streaks, atMs), atMs, better) });
}

/** The next tick of a schedule was moved: to `atMs`, or to none because the check was deleted. */
export function moveNextTick(
  ctx: DecisionContext,
  key: string,
  atMs: number | undefined,
  passed: TickResult = LATE,
): void {
  const record = recordOf(ctx, key);
  // An edit at the very moment of a tick replaces it; otherwise the tick has passed unless it is the next one.
  const untilMs = passed === LATE ? ctx.nowMs : Math.min(ctx.nowMs + 1, atMs ?? Infinity);
  const streaks = filled(ctx, key, record, { untilMs, otherwise: passed });
  put(ctx, key, { ...record, streaks, next: nextTick(ctx, key, atMs) });
}

const recordOf = (ctx: DecisionContext, key: string): TickRecord => ctx.get('ticks', checkTicksKey(key)) ?? EMPTY;

/** A tick that requested agents counts as `ran`, even if its other requests failed. The agents of several requests are added up. */
function betterResult(known: TickStreak, result: TickResult): TickResult | undefined {
  if (known.outcome !== 'ran' || known.agents === undefined) return result;
  if (result.outcome !== 'ran' || result.agents === undefined || known.asks === 'entities') return undefined;
  const agents = known.agents[1] + result.agents[1];
  return { ...result, agents: [agents, agents] };
}

/** Adds the ticks that had passed when a tick was taken late: those from `passedFrom`, the first one after it or after an edit. */
function withPassed(
  ctx: DecisionContext,
  key: string,
  record: TickRecord,
  passedFrom: NextTick | undefined,
): TickRecord {
  const { next } = record;
  if (next === undefined) return record;
  // A point of the grid at this very moment has passed, too.
  const gap = { untilMs: Math.min(next.atMs, ctx.nowMs + 1), otherwise: LATE };
  return { ...record, streaks: filled(ctx, key, { ...record, next: passedFrom, undecided: [] }, gap) };
}

function checkOf(ctx: DecisionContext, key: string): Check | undefined {
  const [namespace = '', name = ''] = key.split('/');
  return readResource(ctx.decision, 'checks', namespace, name);
}

function asksOf(check: Check | undefined): TickResult['asks'] {
  if (check?.proxy_requests !== undefined) return 'entities';
  return check?.round_robin === true ? 'ring' : undefined;
}

function nextTick(ctx: DecisionContext, key: string, atMs: number | undefined): NextTick | undefined {
  const check = checkOf(ctx, key);
  if (check === undefined || atMs === undefined) return undefined;
  return { atMs, interval: check.interval, cron: check.cron };
}

function put(ctx: DecisionContext, key: string, record: TickRecord): void {
  const undecided = ctx.ticks.undecided(key);
  ctx.ticks.recorded(key, record.next?.atMs ?? ctx.nowMs);
  putTicks(ctx, checkTicksKey(key), { ...record, undecided: undecided.length === 0 ? undefined : undecided });
}
