import type { CalendarTimes, CronSchedule } from '../resources/cron-expression.ts';
import { civilTimeOf, dateOf, dayOf, daysOf, startOfDayMs, weekdayOf } from './civil-date.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A schedule that is not due in so many calendar years is due never. */
const MAX_YEARS_AHEAD = 5;
/** The longest that a schedule can rest is from one leap day over the end of a century to the next. */
const LONGEST_REST_MS = 8 * 366 * DAY_MS;

/** How far a zone's clocks are ahead of UTC at a moment, ms. */
type Offset = (atMs: number) => number;

/**
 * The first time after `fromMs` at which a schedule is due, Unix ms; undefined when that is not within five years. A local time that does
 * not exist is passed over, one that occurs twice is due twice. Source: spec/04 1.4.
 */
export function nextCronTimeMs({ zone, due }: CronSchedule, fromMs: number): number | undefined {
  if ('everyMs' in due) return Math.floor(fromMs / 1_000) * 1_000 + due.everyMs;
  const offset = offsetOf(zone);
  const localOf = (atMs: number): number => atMs + offset(atMs);
  const lastYear = civilTimeOf(localOf(fromMs)).year + MAX_YEARS_AHEAD;
  let atMs = nextMinuteMs(localOf(fromMs)) - offset(fromMs);
  for (;;) {
    const localMs = localOf(atMs);
    const { hour, minute, year } = civilTimeOf(localMs);
    if (year > lastYear) return undefined;
    if (!isDueOn(due, dayOf(localMs))) {
      const day = nextDueDay(due, dayOf(localMs), lastYear);
      if (day === undefined) return undefined;
      atMs = firstMomentMs(startOfDayMs(day), offset);
    } else if (!due.hours.has(hour)) atMs = nextHourMs(atMs, minute, offset);
    else if (!due.minutes.has(minute)) atMs += MINUTE_MS;
    else return atMs;
  }
}

/** As `nextCronTimeMs`, however far ahead that is. The schedule occurs: `assertCron` has let it pass. */
export function nextDueMs(schedule: CronSchedule, fromMs: number): number {
  const nextMs = nextCronTimeMs(schedule, fromMs) ?? nextCronTimeMs(schedule, fromMs + LONGEST_REST_MS / 2);
  if (nextMs === undefined) throw new Error('a schedule that occurs has no next time');
  return nextMs;
}

const nextMinuteMs = (localMs: number): number => (Math.floor(localMs / MINUTE_MS) + 1) * MINUTE_MS;

/** Where clocks are set within the hour, minute by minute: some of its minutes are missing, or come twice. */
function nextHourMs(atMs: number, minute: number, offset: Offset): number {
  const nextMs = atMs + (60 - minute) * MINUTE_MS;
  return offset(nextMs) === offset(atMs) ? nextMs : atMs + MINUTE_MS;
}

function isDueOn({ months, daysOfMonth, weekdays, needsBothDays }: CalendarTimes, days: number): boolean {
  const { month, day } = dateOf(days);
  if (!months.has(month)) return false;
  const [isDay, isWeekday] = [daysOfMonth.has(day), weekdays.has(weekdayOf(days))];
  return needsBothDays ? isDay && isWeekday : isDay || isWeekday;
}

function nextDueDay(due: CalendarTimes, today: number, lastYear: number): number | undefined {
  const end = daysOf(lastYear + 1, 1, 1);
  for (let day = today + 1; day < end; day += 1) if (isDueOn(due, day)) return day;
  return undefined;
}

/** The first moment whose local time is `localMs` or, where clocks pass over that, later. */
function firstMomentMs(localMs: number, offset: Offset): number {
  // No zone changes twice within two days.
  const offsets = [offset(localMs - DAY_MS), offset(localMs + DAY_MS)];
  let atMs = localMs - Math.max(...offsets);
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
    const localMs = startOfDayMs(daysOf(year, month, day)) + hour * HOUR_MS + minute * MINUTE_MS;
    return localMs - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  };
}
