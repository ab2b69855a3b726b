import type { TickResult, TickStreak } from './tick-streaks.ts';
import { type Tick, ticksInOrder } from './ticks-in-order.ts';

export const NOT_CONNECTED = 'the agent was not connected';
/** The reason of an outage between two processes. */
export const DOWN = 'the backend was down';
const STOPPED = 'the backend stopped before the result';
/** The request of a tick is sent this long after it at most. */
const SENT_WITHIN_MS = 30_000;
/** A result may take this long. */
const RESULT_MS = 120_000;

/** The record of the ticks of a check that concern one entity. */
export interface EntityTicks {
  /** Ticks with an outcome of their own. */
  own: readonly TickStreak[];
  /** When its agent was not connected. */
  away: readonly TickStreak[];
  /** Since when its agent has no connection, Unix ms. */
  awaySinceMs: number | undefined;
  /** When the backend took no ticks. */
  outages: readonly TickStreak[];
  /** Whether the entity has a subscription of the check now. */
  isSubscribed: boolean;
}

export interface TickOutcomeAt {
  atMs: number;
  /** The end of ticks that are not counted, Unix ms. */
  toMs: number;
  result: TickResult;
  isWhole: boolean;
}

/** Iterates over the ticks of a check with their outcomes, in order. */
export function* checkOutcomes(
  ofCheck: readonly TickStreak[],
  sinceMs: number,
  untilMs: number,
): Iterable<TickOutcomeAt> {
  for (const tick of ticksInOrder(ofCheck, sinceMs, untilMs)) yield outcomeOf(tick, tick.streak);
}

/**
 * Iterates over the ticks of a check that concern an entity: those with an outcome of the entity, those that asked no agent at
 * all, and those at which its agent was not connected. Ticks whose result is still expected are left out.
 */
export function* entityOutcomes(
  ofCheck: readonly TickStreak[],
  entity: EntityTicks,
  sinceMs: number,
  untilMs: number,
): Iterable<TickOutcomeAt> {
  const own = ticksInOrder(entity.own, sinceMs, untilMs)[Symbol.iterator]();
  let next = own.next();
  for (const tick of ticksInOrder(ofCheck, sinceMs, untilMs)) {
    for (; next.done !== true && next.value.atMs < tick.atMs; next = own.next())
      yield outcomeOf(next.value, next.value.streak);
    if (next.done !== true && next.value.atMs === tick.atMs) {
      const { value } = next;
      yield outcomeOf(value, value.streak);
      next = own.next();
      continue;
    }
    const result = resultFor(tick, entity);
    if (result !== undefined) yield outcomeOf(tick, result);
  }
  for (; next.done !== true; next = own.next()) yield outcomeOf(next.value, next.value.streak);
}

const outcomeOf = ({ atMs, toMs, streak }: Tick, { outcome, reason, detail, agents }: TickResult): TickOutcomeAt => ({
  atMs,
  toMs,
  result: { outcome, reason, detail, agents },
  isWhole: streak.isWhole === true,
});

/** Returns the outcome of a tick for an entity that has no outcome of its own; undefined when the tick does not concern it. */
function resultFor({ atMs, streak }: Tick, entity: EntityTicks): TickResult | undefined {
  const { outcome, reason, asks } = streak;
  if (!isWatched(entity, atMs)) return undefined;
  const asked = outcome === 'ran' || reason === 'no agents';
  if (!asked) return streak;
  if (asks !== undefined) return outcome === 'ran' ? undefined : streak;
  if (isAway(entity, atMs)) return { outcome: 'lost', reason: NOT_CONNECTED };
  if (outcome !== 'ran') return streak;
  const stopped = entity.outages.some(
    ({ reason: why, fromMs, toMs }) => why === DOWN && atMs <= toMs && atMs >= fromMs - RESULT_MS,
  );
  return stopped ? { outcome: 'lost', reason: STOPPED } : undefined;
}

/** Whether the check ran for the entity before, and still concerns it: it has a later outcome, or is subscribed. */
function isWatched({ own, isSubscribed }: EntityTicks, atMs: number): boolean {
  const [first] = own;
  if (first === undefined || first.fromMs > atMs) return false;
  return isSubscribed || own.some(({ toMs }) => toMs > atMs);
}

/**
 * Whether the agent had no connection when the request of a tick was sent. It may have been connected at the tick itself: a
 * connection that ended after the request was sent gives the tick an outcome of its own.
 */
function isAway({ away, awaySinceMs = Infinity }: EntityTicks, atMs: number): boolean {
  const sentMs = atMs + SENT_WITHIN_MS;
  return sentMs >= awaySinceMs || away.some(({ fromMs, toMs }) => fromMs <= sentMs && atMs <= toMs);
}
