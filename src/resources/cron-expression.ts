import { InvalidResource } from './errors.ts';

interface Field {
  name: string;
  min: number;
  max: number;
  names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 6, names: WEEKDAYS },
];
const LONGEST_MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const ZONE_PREFIX = /^(?:CRON_)?TZ=([^ ]*)( ?)(.*)$/s;
const EVERY = '@every ';
const DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;
const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The minutes, hours and days of a calendar at which a schedule is due. */
export interface CalendarTimes {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  daysOfMonth: ReadonlySet<number>;
  /** January is 1. */
  months: ReadonlySet<number>;
  /** Sunday is 0. */
  weekdays: ReadonlySet<number>;
  /** Whether a day must match both fields of days, because one of them is `*`. Otherwise one match is enough. */
  needsBothDays: boolean;
}

export interface CronSchedule {
  /** The time zone; undefined = the zone of the process. */
  zone: string | undefined;
  /** A fixed period, or times of the calendar. */
  due: { everyMs: number } | CalendarTimes;
}

/** Parses an expression that `assertCron` accepts. @throws InvalidResource with the reason */
export function parseCron(expression: string): CronSchedule {
  assertCron(expression);
  const [, name = 'Local', , schedule = expression] = ZONE_PREFIX.exec(expression) ?? [];
  const zone = name === 'Local' ? undefined : name || 'UTC';
  if (schedule.startsWith(EVERY)) return { zone, due: { everyMs: durationMs(schedule.slice(EVERY.length)) } };
  return { zone, due: calendarTimes(fieldsOf(DESCRIPTORS.get(schedule) ?? schedule)) };
}

/** The period in whole seconds, at least one. */
function durationMs(duration: string): number {
  let ms = 0;
  for (const [, amount = '', unit = ''] of duration.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  return Math.max(1, Math.floor(ms / 1_000)) * 1_000;
}

function calendarTimes(parts: readonly string[]): CalendarTimes {
  const [minutes, hours, daysOfMonth, months, weekdays] = FIELDS.map(
    (field, index) => new Set(valuesOf(parts[index] ?? '', field)),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  return { minutes, hours, daysOfMonth, months, weekdays, needsBothDays: needsBothDays(parts) };
}

/**
 * Accepts five fields, descriptors such as `@daily`, `@every` and a zone prefix. Rejects a schedule that never occurs.
 * @throws InvalidResource with the reason
 */
export function assertCron(expression: string): void {
  const reason = cronError(expression);
  if (reason !== undefined) throw new InvalidResource(`check cron string is invalid: ${reason}`);
}

function cronError(expression: string): string | undefined {
  const zone = ZONE_PREFIX.exec(expression);
  if (zone !== null) {
    const [, name = '', blank, rest = ''] = zone;
    if (blank === '') return `expected a schedule after the time zone ${name}`;
    return isZone(name) ? scheduleError(rest) : `provided bad location ${name}: unknown time zone ${name}`;
  }
  return scheduleError(expression);
}

function isZone(name: string): boolean {
  if (name === '' || name === 'Local') return true;
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function scheduleError(schedule: string): string | undefined {
  if (schedule.startsWith(EVERY)) {
    const duration = schedule.slice(EVERY.length);
    if (!DURATION.test(duration)) return `failed to parse duration ${schedule}: invalid duration "${duration}"`;
    return duration.startsWith('-') ? `failed to parse duration ${schedule}: must not be negative` : undefined;
  }
  if (schedule.startsWith('@')) {
    return DESCRIPTORS.has(schedule) ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const parts = fieldsOf(schedule);
  if (parts.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, field] of FIELDS.entries()) {
    for (const member of (parts[index] ?? '').split(',')) {
      const error = member === '' ? undefined : memberError(member, field);
      if (error !== undefined) return error;
    }
  }
  return occurs(parts) ? undefined : 'schedule never occurs';
}

const fieldsOf = (schedule: string): string[] => schedule.split(/\s+/).filter((part) => part !== '');

function occurs(parts: readonly string[]): boolean {
  const { minutes, hours, daysOfMonth, months, weekdays, needsBothDays: both } = calendarTimes(parts);
  if (minutes.size === 0 || hours.size === 0 || months.size === 0) return false;
  const earliest = Math.min(...daysOfMonth);
  const hasDay = [...months].some((month) => earliest <= (LONGEST_MONTH_DAYS[month - 1] ?? 0));
  const hasWeekday = weekdays.size > 0;
  return both ? hasDay && hasWeekday : hasDay || hasWeekday;
}

const needsBothDays = (parts: readonly string[]): boolean => isWildcard(parts[2]) || isWildcard(parts[4]);

const isWildcard = (part = ''): boolean =>
  part.split(',').some((member) => /^[*?](?:-[^/]*)?(?:\/\+?0*1)?$/.test(member));

/** Returns the values that a valid part matches. */
function valuesOf(part: string, field: Field): number[] {
  const members = part.split(',').filter((member) => member !== '');
  return members.flatMap((member) => {
    const [range = '', step] = member.split('/');
    const [low = '', high] = range.split('-');
    const first = numberOf(low, field);
    // `*` and `x/n` extend to the end of the field.
    const last = first === undefined ? undefined : numberOf(high ?? (step === undefined ? low : ''), field);
    const values = [];
    for (let value = first ?? field.min; value <= (last ?? field.max); value += Number(step ?? 1)) values.push(value);
    return values;
  });
}

function memberError(member: string, field: Field): string | undefined {
  const [range = '', step, ...moreSlashes] = member.split('/');
  if (moreSlashes.length > 0) return `too many slashes: ${member}`;
  const [low = '', high, ...moreHyphens] = range.split('-');
  if (moreHyphens.length > 0) return `too many hyphens: ${member}`;
  if (low !== '*' && low !== '?') {
    const first = numberOf(low, field);
    const last = high === undefined ? first : numberOf(high, field);
    if (first === undefined) return notANumber(low);
    if (last === undefined) return notANumber(high ?? '');
    if (first < field.min) return `beginning of range (${first}) below minimum (${field.min}): ${member}`;
    if (last > field.max) return `end of range (${last}) above maximum (${field.max}): ${member}`;
    if (first > last) return `beginning of range (${first}) beyond end of range (${last}): ${member}`;
  }
  if (step === undefined) return undefined;
  const every = /^\+?\d+$/.test(step) ? Number(step) : undefined;
  if (every === undefined) return notANumber(step);
  return every === 0 ? `step of range should be a positive number: ${member}` : undefined;
}

function numberOf(text: string, field: Field): number | undefined {
  const index = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (index >= 0) return index + field.min;
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

const notANumber = (text: string): string => `failed to parse int from ${text}: invalid syntax`;
