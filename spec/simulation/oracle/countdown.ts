/** A blind time, in steady time. Its length is known only within bounds. */
export interface Blindness {
  endMs: number;
  leastMs: number;
  mostMs: number;
}

/** The timeouts that count from the last real input: the two of a keepalive, or the TTL of a check, which has no critical timeout. */
export interface Countdown {
  /** Receipt of the last real input, in steady time. */
  sinceMs: number;
  warningMs: number;
  criticalMs: number;
  /** The last alert: the base that it counted from, and the time since the base. */
  alerted?: { baseMs: number; elapsedMs: number };
}

export interface Due {
  atMs: number;
  /** The last real input, or the end of the first blind time after it. */
  baseMs: number;
  blindness: Blindness | undefined;
}

/** Alerts at every multiple of the warning timeout and once at the critical one (section 7.5), counted from the base (section 7.8). */
export function dueOf(countdown: Countdown, blind: readonly Blindness[]): Due {
  const { sinceMs, warningMs, criticalMs, alerted } = countdown;
  const blindness = blind.find(({ endMs }) => endMs > sinceMs);
  const baseMs = blindness?.endMs ?? sinceMs;
  const passedMs = alerted?.baseMs === baseMs ? alerted.elapsedMs : 0;
  const stepMs = warningMs === 0 ? criticalMs : warningMs;
  const tickMs = stepMs * (Math.floor(passedMs / stepMs) + 1);
  const nextMs = criticalMs > passedMs && criticalMs < tickMs ? criticalMs : tickMs;
  return { atMs: baseMs + nextMs, baseMs, blindness };
}
