import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { parseRfc3339 } from './rfc3339.ts';
import { optional, text, textList, textsOf } from './schema.ts';

/** Blanks are ignored at every position. */
const CLOCK_TIME = /^(?:0?\d|1[0-2]):[0-5]\d[AP]M$/;
const DAYS = ['all', 'sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const REPEATS = new Set(
  'annually monthly weekly daily weekdays weekends sundays mondays tuesdays wednesdays thursdays fridays saturdays'.split(
    ' ',
  ),
);

const ClockRangesSchema = optional(Type.Array(Type.Object({ begin: optional(text()), end: optional(text()) })));

/** Windows by weekday and clock time: the older form. */
export const WeeklyWindowsSchema = Type.Object({
  days: optional(
    Type.Object({
      all: ClockRangesSchema,
      sunday: ClockRangesSchema,
      monday: ClockRangesSchema,
      tuesday: ClockRangesSchema,
      wednesday: ClockRangesSchema,
      thursday: ClockRangesSchema,
      friday: ClockRangesSchema,
      saturday: ClockRangesSchema,
    }),
  ),
});

/** A window from `begin` to `end`, with its repetitions. */
export const RepeatedWindowSchema = Type.Object({
  begin: optional(text('RFC 3339')),
  end: optional(text('RFC 3339')),
  repeat: optional(textList()),
});

interface ClockRange {
  begin: string;
  end: string;
}

export interface WeeklyWindows {
  days: Partial<Record<(typeof DAYS)[number], ClockRange[]>>;
}

export type RepeatedWindow = ReturnType<typeof repeatedWindowWithDefaults>;

export function weeklyWindowsWithDefaults(
  input: Static<typeof WeeklyWindowsSchema> | null | undefined,
): WeeklyWindows | null {
  if (!input) return null;
  const days: WeeklyWindows['days'] = {};
  for (const day of DAYS) {
    const ranges = input.days?.[day];
    if (ranges && ranges.length > 0) {
      days[day] = ranges.map((range) => ({ begin: range.begin ?? '', end: range.end ?? '' }));
    }
  }
  return { days };
}

export function repeatedWindowWithDefaults(input: Static<typeof RepeatedWindowSchema>) {
  return { begin: input.begin ?? '', end: input.end ?? '', repeat: input.repeat ? textsOf(input.repeat) : null };
}

/** A parsed window. */
export interface WindowTimes {
  /** Unix ms. */
  beginMs: number;
  endMs: number;
  /** The UTC offset of `begin`. The window repeats by the calendar at this offset. */
  offsetMs: number;
  repeat: readonly string[];
}

/** Returns undefined for a window that `assertRepeatedWindows` rejects; it never applies. */
export function windowTimes({ begin, end, repeat }: RepeatedWindow): WindowTimes | undefined {
  const [from, to] = [parseRfc3339(begin), parseRfc3339(end)];
  if (from === undefined || to === undefined) return undefined;
  return { beginMs: from.atMs, endMs: to.atMs, offsetMs: from.offsetMs, repeat: repeat ?? [] };
}

/** @throws InvalidResource for a time in another format than `5:00PM` */
export function assertWeeklyWindows(windows: WeeklyWindows | null, field = 'subdue'): void {
  for (const range of Object.values(windows?.days ?? {}).flat()) {
    for (const time of [range.begin, range.end]) {
      if (!CLOCK_TIME.test(time.replaceAll(' ', '')))
        throw new InvalidResource(`${field} time "${time}" must be written like 5:00PM`);
    }
  }
}

/** @throws InvalidResource that names the window by its index */
export function assertRepeatedWindows(windows: readonly RepeatedWindow[]): void {
  for (const [index, { begin, end, repeat }] of windows.entries()) {
    const refuse = (reason: string): never => {
      throw new InvalidResource(`subdue ${index} invalid: ${reason}`);
    };
    const [from, to] = [parseRfc3339(begin), parseRfc3339(end)];
    if (from === undefined) return refuse(`invalid begin time format: ${begin}`);
    if (to === undefined) return refuse(`invalid end time format: ${end}`);
    if (to.atMs < from.atMs) refuse('end time must be after begin time');
    for (const period of repeat ?? []) {
      if (!REPEATS.has(period)) refuse(`invalid repeat period: ${period}`);
    }
  }
}
