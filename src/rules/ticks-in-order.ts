import type { TickStreak } from './tick-streaks.ts';

/** A tick, or all ticks from `atMs` to `toMs` that are not counted. */
export interface Tick {
  atMs: number;
  toMs: number;
  streak: TickStreak;
}

/** Iterates over the ticks from `sinceMs` to `untilMs` of streaks in the order of their first ticks. */
export function* ticksInOrder(streaks: readonly TickStreak[], sinceMs: number, untilMs: number): Iterable<Tick> {
  const waiting = streaks.filter(({ toMs, fromMs }) => toMs >= sinceMs && fromMs <= untilMs);
  let begun: Tick[] = [];
  let next = 0;
  for (;;) {
    const first = earliest(begun);
    const candidate = waiting[next];
    if (candidate !== undefined && (first === undefined || candidate.fromMs <= first.atMs)) {
      begun.push(firstTick(candidate, sinceMs));
      next += 1;
      continue;
    }
    if (first === undefined) return;
    if (first.atMs <= untilMs) yield { ...first, toMs: Math.min(first.toMs, untilMs) };
    const following = tickAfter(first);
    begun = begun.filter((tick) => tick !== first);
    if (following !== undefined && following.atMs <= untilMs) begun.push(following);
  }
}

function earliest(ticks: readonly Tick[]): Tick | undefined {
  let first = ticks[0];
  for (const tick of ticks) if (first !== undefined && tick.atMs < first.atMs) first = tick;
  return first;
}

function firstTick(streak: TickStreak, sinceMs: number): Tick {
  const { fromMs, toMs, everyMs, isWhole } = streak;
  if (isWhole === true) return { atMs: Math.max(fromMs, sinceMs), toMs, streak };
  const skipped = everyMs === 0 || sinceMs <= fromMs ? 0 : Math.ceil((sinceMs - fromMs) / everyMs);
  const atMs = fromMs + skipped * everyMs;
  return { atMs, toMs: atMs, streak };
}

function tickAfter({ atMs, streak }: Tick): Tick | undefined {
  const { toMs, everyMs, isWhole } = streak;
  if (isWhole === true || everyMs === 0 || atMs + everyMs > toMs) return undefined;
  return { atMs: atMs + everyMs, toMs: atMs + everyMs, streak };
}
