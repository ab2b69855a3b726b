import type { CheckEvent } from '../../resources/event.ts';
import {
  covers,
  tickIssuedAt,
  type TickResult,
  type TickStreak,
  withoutTick,
  withTick,
} from '../../rules/tick-streaks.ts';
import { checkTicksKey, entityTicksKey, eventAddress, entityKey } from '../../store/encoding/keyspace.ts';
import type { EventRecord, RanTicks, TickRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { ExpectedResult } from '../core/expected-results.ts';
import { EMPTY, putTicks } from './tick-records.ts';

const RAN: TickResult = { outcome: 'ran' };

/** The streak of the ticks that ran, as other streaks are. */
export const streakOf = ([fromMs, toMs, everyMs]: RanTicks): TickStreak => ({ ...RAN, fromMs, toMs, everyMs });

/** Returns the ticks that ran on an entity after a result of it arrived. `key` is that of its event. */
export function ranAfter(
  ctx: DecisionContext,
  key: string,
  { check }: CheckEvent,
  previous: EventRecord | undefined,
): RanTicks | undefined {
  const ran = previous?.ran;
  const expected = ctx.ticks.expected.answer(key, check.issued);
  if (expected !== undefined) return expected.tickAtMs === undefined ? ran : withRun(ctx, key, ran, expected.tickAtMs);
  if (check.issued <= 0) return ran;
  const { namespace, check: name } = eventAddress(key);
  if (!ctx.ticks.isScheduled(entityKey(namespace, name))) return ran;
  return withLateRun(ctx, key, ran, check.issued);
}

function withRun(ctx: DecisionContext, key: string, ran: RanTicks | undefined, atMs: number): RanTicks {
  if (ran === undefined) return [atMs, atMs, 0];
  const [fromMs, toMs, everyMs] = ran;
  if (atMs > toMs && (everyMs === 0 || atMs === toMs + everyMs)) return [fromMs, atMs, atMs - toMs];
  if (covers(streakOf(ran), atMs)) return ran;
  const record = ctx.get('ticks', entityTicksKey(key)) ?? EMPTY;
  if (atMs < toMs) {
    if (!record.streaks.some((streak) => streak.outcome === 'ran' && covers(streak, atMs))) {
      putTicks(ctx, entityTicksKey(key), {
        ...record,
        streaks: withTick(withoutTick(record.streaks, atMs), atMs, RAN),
      });
    }
    return ran;
  }
  putRan(ctx, key, record, ran);
  return [atMs, atMs, 0];
}

function putRan(ctx: DecisionContext, key: string, record: TickRecord, ran: RanTicks): void {
  const streaks = [...record.streaks, streakOf(ran)].toSorted((one, other) => one.fromMs - other.fromMs);
  putTicks(ctx, entityTicksKey(key), { ...record, streaks });
}

/** Keeps the ticks that ran on an entity on record when its event, which has the last ones, is deleted. */
export function keepRanTicks(ctx: DecisionContext, key: string): void {
  const ran = ctx.get('events', key)?.ran;
  if (ran !== undefined) putRan(ctx, key, ctx.get('ticks', entityTicksKey(key)) ?? EMPTY, ran);
}

/** Handles a result that is not expected any more: of a tick that is recorded as lost, or that a former process requested. */
function withLateRun(
  ctx: DecisionContext,
  key: string,
  ran: RanTicks | undefined,
  issuedS: number,
): RanTicks | undefined {
  const record = ctx.get('ticks', entityTicksKey(key)) ?? EMPTY;
  const lostAtMs = lastTick(record.streaks, issuedS, 'lost');
  if (lostAtMs !== undefined) {
    const streaks = withTick(withoutTick(record.streaks, lostAtMs), lostAtMs, RAN);
    putTicks(ctx, entityTicksKey(key), { ...record, streaks });
    return ran;
  }
  const { namespace, check } = eventAddress(key);
  const ofCheck = ctx.get('ticks', checkTicksKey(entityKey(namespace, check))) ?? EMPTY;
  const atMs = lastTick(ofCheck.streaks, issuedS, 'ran');
  return atMs === undefined || atMs <= (ran?.[1] ?? 0) ? ran : withRun(ctx, key, ran, atMs);
}

function lastTick(streaks: readonly TickStreak[], issuedS: number, outcome: TickResult['outcome']): number | undefined {
  for (const streak of streaks.toReversed()) {
    const atMs = streak.outcome === outcome ? tickIssuedAt(streak, issuedS) : undefined;
    if (atMs !== undefined) return atMs;
  }
  return undefined;
}

/** Records that a tick did not run on an entity, unless its result is stored. `key` is that of its event. */
export function recordEntityTick(ctx: DecisionContext, key: string, atMs: number, result: TickResult): void {
  const ran = ctx.get('events', key)?.ran;
  if (ran !== undefined && covers(streakOf(ran), atMs)) return;
  const record = ctx.get('ticks', entityTicksKey(key)) ?? EMPTY;
  if (record.streaks.some((streak) => covers(streak, atMs))) return;
  putTicks(ctx, entityTicksKey(key), { ...record, streaks: withTick(record.streaks, atMs, result) });
}

/** Why an expected result did not arrive. */
export function reasonOfLoss({ receipts, isRepeated }: ExpectedResult, isOpen: (sessionId: string) => boolean): string {
  if (isRepeated) return 'the agent refused it, because an earlier request had the same time in seconds';
  if (receipts.every(({ isDropped }) => isDropped))
    return 'the request was dropped, because too many waited for the agent';
  if (!receipts.some(({ sessionId }) => isOpen(sessionId))) return 'the connection ended before the result';
  return 'the agent did not answer';
}
