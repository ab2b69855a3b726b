import type { CalendarTimes, CronSchedule } from '../resources/cron-expression.ts';
import { DAY_MS, startOfDayMs } from './calendar-day.ts';

const MINUTE_MS = 60_000;
/** A schedule that is not due within this many calendar years is never due. */
const MAX_YEARS_AHEAD = 5;
/** The longest time between two runs: from one leap day to the next where a century without one lies between. */
const LONGEST_GAP_MS = 8 * 366 * DAY_MS;

/** The milliseconds by which a zone's clocks are ahead of UTC at a moment. */
type Offset = (atMs: number) => number;

/**
 * Returns the first time after `fromMs` at which a schedule is due, Unix ms, or undefined when that is not within five years. A
 * local time that does not exist is skipped; one that occurs twice is due twice. Source: spec/04 1.4.
 */
export function nextCronTimeMs({ zone, due }: CronSchedule, fromMs: number): number | undefined {
  if ('everyMs' in due) return Math.floor(fromMs / 1_000) * 1_000 + due.everyMs;
  const offset = offsetOf(zone);
  const localOf = (atMs: number): number => atMs + offset(atMs);
  const lastYear = new Date(localOf(fromMs)).getUTCFullYear() + MAX_YEARS_AHEAD;
  let atMs = nextMinuteMs(localOf(fromMs)) - offset(fromMs);
  for (;;) {
    // The UTC fields of this date are what the zone's calendar and clock show.
    const local = new Date(localOf(atMs));
    if (local.getUTCFullYear() > lastYear) return undefined;
    if (!isDueOn(due, local)) {
      const dayMs = nextDueDayMs(due, local.getTime(), lastYear);
      if (dayMs === undefined) return undefined;
      atMs = nextMomentMs(dayMs, atMs, offset);
    } else if (!due.hours.has(local.getUTCHours())) atMs = nextHourMs(atMs, local.getUTCMinutes(), offset);
    else if (!due.minutes.has(local.getUTCMinutes())) atMs += MINUTE_MS;
    else return atMs;
  }
}

/** Returns the next time as `nextCronTimeMs` does, however far ahead it is. `assertCron` rejects schedules that never occur. */
export function nextDueMs(schedule: CronSchedule, fromMs: number): number {
  const nextMs = nextCronTimeMs(schedule, fromMs) ?? nextCronTimeMs(schedule, fromMs + LONGEST_GAP_MS / 2);
  if (nextMs === undefined) throw new Error('a schedule that occurs has no next time');
  return nextMs;
}

const nextMinuteMs = (localMs: number): number => (Math.floor(localMs / MINUTE_MS) + 1) * MINUTE_MS;

/** Advances by one minute where the clocks change within the hour, because minutes are then missing or come twice. */
function nextHourMs(atMs: number, minute: number, offset: Offset): number {
  const nextMs = atMs + (60 - minute) * MINUTE_MS;
  return offset(nextMs) === offset(atMs) ? nextMs : atMs + MINUTE_MS;
}

function isDueOn({ months, daysOfMonth, weekdays, needsBothDays }: CalendarTimes, local: Date): boolean {
  if (!months.has(local.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [daysOfMonth.has(local.getUTCDate()), weekdays.has(local.getUTCDay())];
  return needsBothDays ? isDay && isWeekday : isDay || isWeekday;
}

function nextDueDayMs(due: CalendarTimes, localMs: number, lastYear: number): number | undefined {
  const endMs = Date.UTC(lastYear + 1, 0, 1);
  for (let dayMs = startOfDayMs(localMs) + DAY_MS; dayMs < endMs; dayMs += DAY_MS) {
    if (isDueOn(due, new Date(dayMs))) return dayMs;
  }
  return undefined;
}

/**
 * Returns the first moment after `afterMs` whose local time is `localMs`, or a later one where the clocks skip that time. Clocks
 * that were set back within the first minutes of a day have shown its beginning before `afterMs` too.
 */
function nextMomentMs(localMs: number, afterMs: number, offset: Offset): number {
  // No zone changes twice within two days.
  const offsets = [offset(localMs - DAY_MS), offset(localMs + DAY_MS)];
  let atMs = Math.max(localMs - Math.max(...offsets), afterMs + MINUTE_MS);
  while (atMs + offset(atMs) < localMs) atMs += MINUTE_MS;
  return atMs;
}

function offsetOf(zone: string | undefined): Offset {
  if (zone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (atMs) => {
    const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  };
}
