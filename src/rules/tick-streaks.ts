export type TickOutcome = 'ran' | 'skipped' | 'lost';

/** The outcome of a tick. */
export interface TickResult {
  outcome: TickOutcome;
  /** Why it was skipped or lost. */
  reason?: string | undefined;
  /** Additional information for the reason. */
  detail?: string | undefined;
  /** The least and the most agents that were asked at a tick. */
  agents?: readonly [number, number] | undefined;
  /** How the tick chose whom to ask, when it did not ask all subscribed agents. */
  asks?: 'ring' | 'entities' | undefined;
}

/** Ticks at equal distances with the same result: `fromMs`, `fromMs + everyMs` and so on until `toMs`. Unix ms. */
export interface TickStreak extends TickResult {
  fromMs: number;
  toMs: number;
  /** 0 for one tick. */
  everyMs: number;
  /** All ticks from `fromMs` to `toMs`, which are not counted. */
  isWhole?: true;
}

export const isSameResult = (one: TickResult, other: TickResult): boolean =>
  one.outcome === other.outcome && one.reason === other.reason && one.asks === other.asks;

/** Whether a tick at this time is one of the streak. */
export function covers({ fromMs, toMs, everyMs, isWhole }: TickStreak, atMs: number): boolean {
  if (atMs < fromMs || atMs > toMs) return false;
  return isWhole === true || atMs === fromMs || (everyMs > 0 && (atMs - fromMs) % everyMs === 0);
}

/** Returns the streaks with a tick that none of them covers. They are in the order of their first ticks. */
export function withTick(streaks: readonly TickStreak[], atMs: number, result: TickResult): TickStreak[] {
  const last = streaks.at(-1);
  if (last !== undefined && continues(last, atMs, result)) {
    const everyMs = last.everyMs === 0 ? atMs - last.fromMs : last.everyMs;
    return [...streaks.slice(0, -1), { ...last, ...joined(last, result), toMs: atMs, everyMs }];
  }
  const added = { ...result, fromMs: atMs, toMs: atMs, everyMs: 0 };
  if (last === undefined || last.fromMs <= atMs) return [...streaks, added];
  return [...streaks, added].toSorted((one, other) => one.fromMs - other.fromMs);
}

function joined(last: TickStreak, { detail = last.detail, agents = last.agents }: TickResult) {
  const [least, most] = last.agents ?? agents ?? [0, 0];
  return {
    detail,
    agents: agents && ([Math.min(least, agents[0]), Math.max(most, agents[1])] as const),
  };
}

function continues(last: TickStreak, atMs: number, result: TickResult): boolean {
  const { toMs, everyMs, isWhole } = last;
  if (isWhole === true || !isSameResult(last, result)) return false;
  return everyMs === 0 ? atMs > toMs : atMs === toMs + everyMs;
}

/** Returns the streaks without the tick at this time. */
export function withoutTick(streaks: readonly TickStreak[], atMs: number): TickStreak[] {
  return streaks.flatMap((streak) => (streak.isWhole !== true && covers(streak, atMs) ? split(streak, atMs) : streak));
}

function split(streak: TickStreak, atMs: number): TickStreak[] {
  const { fromMs, toMs, everyMs } = streak;
  const before = atMs > fromMs ? [ofTicks(streak, fromMs, atMs - everyMs)] : [];
  return atMs < toMs ? [...before, ofTicks(streak, atMs + everyMs, toMs)] : before;
}

function ofTicks(streak: TickStreak, fromMs: number, toMs: number): TickStreak {
  return { ...streak, fromMs, toMs, everyMs: fromMs === toMs ? 0 : streak.everyMs };
}

/** The number of ticks; undefined when they are not counted. */
export function countOf({ fromMs, toMs, everyMs, isWhole }: TickStreak): number | undefined {
  if (isWhole === true) return undefined;
  return everyMs === 0 ? 1 : (toMs - fromMs) / everyMs + 1;
}

/** The tick of the streak in which a request with this time in Unix seconds was issued; a request may be late by half a second. */
export function tickIssuedAt(streak: TickStreak, issuedS: number): number | undefined {
  const { fromMs, toMs, everyMs, isWhole } = streak;
  const latestMs = Math.min(issuedS * 1_000 + 999, toMs);
  if (isWhole === true || latestMs < fromMs) return undefined;
  const tickMs = everyMs === 0 ? fromMs : latestMs - ((latestMs - fromMs) % everyMs);
  return tickMs >= issuedS * 1_000 - 500 ? tickMs : undefined;
}
