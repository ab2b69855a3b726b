import { type RepeatedWindow, type WindowTimes, windowTimes } from '../resources/time-windows.ts';
import { dateOf, dayOf, startOfDayMs, weekdayOf } from './civil-date.ts';

/** Windows end with the second that their end names. */
const LAST_SECOND_MS = 1_000;
const WEEKDAYS = ['sundays', 'mondays', 'tuesdays', 'wednesdays', 'thursdays', 'fridays', 'saturdays'];

/** Whether a moment, Unix ms, is in one of a check's windows. Source: spec/04 1.7. */
export const isSubdued = (windows: readonly RepeatedWindow[], atMs: number): boolean =>
  windows.some((window) => {
    const times = windowTimes(window);
    return times !== undefined && isInWindow(times, atMs);
  });

function isInWindow(window: WindowTimes, atMs: number): boolean {
  const { beginMs, endMs, offsetMs, repeat } = window;
  if (atMs < beginMs) return false;
  const lengthMs = endMs - beginMs + LAST_SECOND_MS;
  if (repeat.length === 0) return atMs < beginMs + lengthMs;
  const localMs = atMs + offsetMs;
  const firstDay = dayOf(beginMs + offsetMs);
  const clockMs = beginMs + offsetMs - startOfDayMs(firstDay);
  // Back to the last day on which a window can have begun that is still open: it may be over midnight, or over a month's end.
  for (let day = dayOf(localMs); startOfDayMs(day) + clockMs + lengthMs > localMs; day -= 1) {
    const hasBegun = startOfDayMs(day) + clockMs <= localMs;
    if (hasBegun && repeat.some((period) => beginsOn(period, day, firstDay))) return true;
  }
  return false;
}

function beginsOn(period: string, day: number, firstDay: number): boolean {
  const [date, first] = [dateOf(day), dateOf(firstDay)];
  const weekday = weekdayOf(day);
  switch (period) {
    case 'daily':
      return true;
    case 'weekly':
      return weekday === weekdayOf(firstDay);
    case 'weekdays':
      return weekday >= 1 && weekday <= 5;
    case 'weekends':
      return weekday === 0 || weekday === 6;
    case 'monthly':
      return date.day === first.day;
    case 'annually':
      return date.month === first.month && date.day === first.day;
    default:
      return period === WEEKDAYS[weekday];
  }
}
