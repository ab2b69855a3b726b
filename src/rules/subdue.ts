import { type RepeatedWindow, type WindowTimes, windowTimes } from '../resources/time-windows.ts';
import { DAY_MS, startOfDayMs } from './calendar-day.ts';

/** A window includes the second that its end names. */
const LAST_SECOND_MS = 1_000;
const WEEKDAYS = ['sundays', 'mondays', 'tuesdays', 'wednesdays', 'thursdays', 'fridays', 'saturdays'];

/** Reports whether a moment, Unix ms, lies in one of a check's windows. Source: spec/04 1.7. */
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
  const firstDayMs = startOfDayMs(beginMs + offsetMs);
  const clockMs = beginMs + offsetMs - firstDayMs;
  // A window that is still open may have begun on an earlier day: it can last beyond midnight, or beyond the end of a month.
  for (let dayMs = startOfDayMs(localMs); dayMs + clockMs + lengthMs > localMs; dayMs -= DAY_MS) {
    const hasBegun = dayMs + clockMs <= localMs;
    if (hasBegun && repeat.some((period) => beginsOn(period, new Date(dayMs), new Date(firstDayMs)))) return true;
  }
  return false;
}

/** Reports whether a window that began on `first` begins again on `day`. Both are UTC midnights. */
function beginsOn(period: string, day: Date, first: Date): boolean {
  const weekday = day.getUTCDay();
  switch (period) {
    case 'daily':
      return true;
    case 'weekly':
      return weekday === first.getUTCDay();
    case 'weekdays':
      return weekday >= 1 && weekday <= 5;
    case 'weekends':
      return weekday === 0 || weekday === 6;
    case 'monthly':
      return day.getUTCDate() === first.getUTCDate();
    case 'annually':
      return day.getUTCMonth() === first.getUTCMonth() && day.getUTCDate() === first.getUTCDate();
    default:
      return period === WEEKDAYS[weekday];
  }
}
