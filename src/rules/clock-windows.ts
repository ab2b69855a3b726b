import type { WeeklyWindows } from '../resources/time-windows.ts';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const CLOCK_TIME = /^0?(\d{1,2}):(\d{2})([AP])M$/;
const HOURS_OF_HALF_DAY = 12;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/**
 * Reports whether a moment, Unix ms, lies in one of the windows of its weekday or of every day, in UTC. Both ends are inclusive to
 * the second. A window that ends before it begins covers the beginning and the end of its own day. Undefined for a window that
 * cannot be read, which only an earlier version stored. Source: spec/04 2.7.
 */
export function isInClockWindows({ days }: WeeklyWindows, atMs: number): boolean | undefined {
  const at = new Date(atMs);
  const secondOfDay = Math.floor(atMs / 1_000) % DAY_S;
  const ranges = [...(days.all ?? []), ...(days[DAYS[at.getUTCDay()] ?? 'all'] ?? [])];
  for (const { begin, end } of ranges) {
    const [from, to] = [secondOf(begin), secondOf(end)];
    if (from === undefined || to === undefined) return undefined;
    const isInside = from <= to ? secondOfDay >= from && secondOfDay <= to : secondOfDay >= from || secondOfDay <= to;
    if (isInside) return true;
  }
  return false;
}

/** Returns the second of the day of a time like `3:04PM`. */
function secondOf(time: string): number | undefined {
  const match = CLOCK_TIME.exec(time.replaceAll(' ', ''));
  if (match === null) return undefined;
  const [, hour, minute, half] = match;
  const hours = (Number(hour) % HOURS_OF_HALF_DAY) + (half === 'P' ? HOURS_OF_HALF_DAY : 0);
  return hours * HOUR_S + Number(minute) * MINUTE_S;
}
