const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A moment on the calendar and the clock of some place. */
export interface CivilTime {
  year: number;
  /** From 1. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

/** Days from 1970-01-01 to a date of the Gregorian calendar. A day beyond its month's last is one of the next month. */
export function daysOf(year: number, month: number, day: number): number {
  // The year begins in March here, so that its leap day is its last.
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468;
}

/** The date so many days after 1970-01-01. */
export function dateOf(days: number): Pick<CivilTime, 'year' | 'month' | 'day'> {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = ((marchMonth + 2) % 12) + 1;
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  return { year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day };
}

/** From Sunday, which is 0. */
export const weekdayOf = (days: number): number => (((days + 4) % 7) + 7) % 7;

/** The day that a moment of a place's own time is in. */
export const dayOf = (localMs: number): number => Math.floor(localMs / DAY_MS);

export const startOfDayMs = (days: number): number => days * DAY_MS;

/** What calendar and clock show when a place's own time is `localMs` after the beginning of 1970. */
export function civilTimeOf(localMs: number): CivilTime {
  const days = dayOf(localMs);
  const minuteOfDay = Math.floor((localMs - startOfDayMs(days)) / MINUTE_MS);
  return { ...dateOf(days), hour: Math.floor(minuteOfDay / 60), minute: minuteOfDay % 60 };
}
