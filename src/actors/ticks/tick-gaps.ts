import { covers, type TickResult, type TickStreak, withTick } from '../../rules/tick-streaks.ts';
import type { NextTick, TickRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { outageOf, outagesOf } from './outages.ts';
import { tickAfter } from './schedule-timing.ts';

/** Steps in which ticks are filled in. Beyond this number the others are one streak, and are not counted. */
const MAX_STEPS = 1_000;

/** The tick had no outcome, and nothing that happened explains that. */
export const UNEXPLAINED = { outcome: 'lost', reason: 'no outcome was recorded' } as const satisfies TickResult;
/** The tick was so late that the next one was due. */
export const LATE = { outcome: 'lost', reason: 'the backend was late' } as const satisfies TickResult;
/** The wall clock was set forward over the tick. */
export const CLOCK_SET = { outcome: 'skipped', reason: 'the clock was set' } as const satisfies TickResult;
export const IN_QUARANTINE = { outcome: 'lost', reason: 'its schedule is in quarantine' } as const satisfies TickResult;

interface Gap {
  untilMs: number;
  /** The outcome of ticks that no failure and no outage explains. */
  otherwise?: TickResult;
  /** Ticks that are still to be decided are filled in, too. */
  isOver?: boolean;
}

/** Returns the streaks of a check with the ticks from its next one until `untilMs` that have no outcome. */
export function filled(ctx: DecisionContext, key: string, record: TickRecord, gap: Gap): TickStreak[] {
  const { untilMs, otherwise = UNEXPLAINED } = gap;
  const { next } = record;
  const left = leftUndecided(ctx, key, record);
  if (next === undefined || (next.atMs >= untilMs && left.length === 0)) return record.streaks;
  const outages = outagesOf(ctx);
  const pending = new Set(ctx.ticks.undecided(key));
  let { streaks } = record;
  const fill = (tick: number, toMs: number, result: TickResult): void => {
    if (pending.has(tick) || streaks.some((streak) => streak.isWhole !== true && covers(streak, tick))) return;
    streaks = toMs > tick ? [...streaks, runOf(next, tick, toMs, result)] : withTick(streaks, tick, result);
    ctx.ticks.counts[result.outcome] +=
      toMs > tick && next.interval > 0 ? (toMs - tick) / (next.interval * 1_000) + 1 : 1;
    if (result === UNEXPLAINED) ctx.ticks.missed.add(key);
  };
  const resultAt = (tick: number): [TickResult, untilMs: number] => {
    const failure = ctx.ticks.failureAt(key, tick);
    if (failure !== undefined) return [{ outcome: 'lost', reason: failure }, tick];
    const outage = otherwise === CLOCK_SET ? undefined : outageOf(outages, tick);
    return outage === undefined ? [otherwise, tick] : [{ outcome: 'lost', reason: outage.reason }, outage.toMs];
  };
  for (const tick of left) fill(tick, tick, resultAt(tick)[0]);
  let tick = next.atMs;
  for (let step = 0; tick < untilMs; step += 1) {
    const [result, resultUntilMs] = resultAt(tick);
    if (step === MAX_STEPS) {
      return [...streaks, { ...result, fromMs: tick, toMs: untilMs - 1, everyMs: 0, isWhole: true }];
    }
    // One by one where this tick or a later one may have an outcome already.
    const areAllMissing = pending.size === 0 && streaks.every((streak) => streak.toMs < tick);
    const toMs = areAllMissing ? lastOnGrid(next, tick, Math.min(resultUntilMs, untilMs - 1)) : tick;
    fill(tick, toMs, result);
    tick = tickAfter(next, toMs, toMs);
  }
  return streaks;
}

/** Ticks that a former process did not decide. */
const leftUndecided = (ctx: DecisionContext, key: string, { undecided = [] }: TickRecord): number[] => {
  const pending = ctx.ticks.undecided(key);
  return undecided.filter((tick) => !pending.includes(tick));
};

/** The last tick of an interval schedule until then; `tickAtMs` for others. */
function lastOnGrid({ interval }: NextTick, tickAtMs: number, untilMs: number): number {
  if (interval === 0) return tickAtMs;
  const everyMs = interval * 1_000;
  return tickAtMs + Math.max(0, Math.floor((untilMs - tickAtMs) / everyMs)) * everyMs;
}

const runOf = ({ interval }: NextTick, fromMs: number, toMs: number, result: TickResult): TickStreak => ({
  ...result,
  fromMs,
  toMs,
  everyMs: interval * 1_000,
});
