import { createHash } from 'node:crypto';

/** The part of a check's configuration that decides its ticks, for a time. */
export interface Epoch {
  /** The change was answered. Unix ms. */
  fromMs: number;
  /** The next change was sent. Unix ms. */
  untilMs: number;
  /** 0 while the check does not exist. */
  intervalS: number;
  publish: boolean;
}

/** A recorded streak, as the API shows it. */
export interface RecordedStreak {
  outcome: string;
  reason?: string;
  from: number;
  to: number;
  every?: number;
  count?: number;
}

export interface TickFaults {
  due: number;
  recorded: number;
  faults: string[];
}

const UNEXPLAINED = 'no outcome was recorded';
/** A grid point this near to a change may be before or after it. */
const NEAR_MS = 20;

/** Returns the grid points of an interval check between two times, by the rule of spec/04 1.3. Unix ms. */
export function gridPoints(name: string, intervalS: number, fromMs: number, untilMs: number): number[] {
  const splay = createHash('md5').update(name).digest().readBigUInt64LE();
  const nowNs = BigInt(Math.ceil(fromMs)) * 1_000_000n;
  const offsetNs = BigInt.asUintN(64, splay - nowNs) % (BigInt(intervalS) * 1_000_000_000n);
  const firstMs = Number((nowNs + offsetNs + 999_999n) / 1_000_000n);
  const points: number[] = [];
  for (let atMs = firstMs; atMs <= untilMs; atMs += intervalS * 1_000) points.push(atMs);
  return points;
}

/** The single ticks of streaks: outcome and reason, by time in Unix ms. */
export function ticksOf(streaks: readonly RecordedStreak[]): Map<number, string> {
  const ticks = new Map<number, string>();
  for (const { outcome, reason, from, every = 0, count } of streaks) {
    if (count === undefined) throw new Error('a streak of ticks is not counted');
    for (let index = 0; index < count; index += 1) {
      const atMs = Math.round((from + index * every) * 1_000);
      if (ticks.has(atMs)) throw new Error(`the tick at ${atMs} is recorded twice: ${JSON.stringify(streaks)}`);
      ticks.set(atMs, reason === undefined ? outcome : `${outcome}: ${reason}`);
    }
  }
  return ticks;
}

/**
 * Compares the recorded ticks of a check with those that its epochs lead to. `isDisturbed` tells when any explained outcome is
 * right: the backend was killed, or no agent was connected.
 */
export function compareTicks(
  name: string,
  epochs: readonly Epoch[],
  recorded: ReadonlyMap<number, string>,
  isDisturbed: (atMs: number) => boolean,
): TickFaults {
  const faults: string[] = [];
  let due = 0;
  const known = new Set<number>();
  for (const { fromMs, untilMs, intervalS, publish } of epochs) {
    if (intervalS === 0) continue;
    for (const atMs of gridPoints(name, intervalS, fromMs - NEAR_MS, untilMs + NEAR_MS)) {
      known.add(atMs);
      if (atMs < fromMs + NEAR_MS || atMs > untilMs - NEAR_MS) continue;
      due += 1;
      const outcome = recorded.get(atMs);
      const expected = publish ? 'ran' : 'skipped: not published';
      if (outcome === undefined) faults.push(`${name} ${atMs}: no outcome, expected ${expected}`);
      else if (outcome !== expected && !isDisturbed(atMs)) faults.push(`${name} ${atMs}: ${outcome}, not ${expected}`);
    }
  }
  const [beganMs, endedMs] = [epochs[0]?.fromMs ?? 0, epochs.at(-1)?.untilMs ?? 0];
  for (const [atMs, outcome] of recorded) {
    if (outcome.endsWith(UNEXPLAINED)) faults.push(`${name} ${atMs}: ${outcome}`);
    const isEdge = epochs.some(
      ({ fromMs, untilMs }) => Math.min(Math.abs(atMs - fromMs), Math.abs(atMs - untilMs)) < 1_000,
    );
    if (!known.has(atMs) && !isEdge && !isDisturbed(atMs) && atMs >= beganMs && atMs <= endedMs) {
      faults.push(`${name} ${atMs}: ${outcome}, but it was not due`);
    }
  }
  return { due, recorded: recorded.size, faults };
}
