import { InvalidResource } from './errors.ts';

interface Field {
  name: string;
  min: number;
  max: number;
  words?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  { name: 'day of week', min: 0, max: 6, words: WEEKDAYS },
];
const LONGEST_MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
const DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;

/**
 * Five-field cron with descriptors, `@every` and a zone prefix. A schedule that never occurs is refused, in a check and in an
 * event alike. @throws InvalidResource with the reason
 */
export function assertCron(expression: string): void {
  const reason = cronFault(expression);
  if (reason !== undefined) throw new InvalidResource(`check cron string is invalid: ${reason}`);
}

function cronFault(expression: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=([^ ]*)( ?)(.*)$/s.exec(expression);
  if (zone !== null) {
    const [, name = '', blank, rest = ''] = zone;
    if (blank === '') return `expected a schedule after the time zone ${name}`;
    return isZone(name) ? scheduleFault(rest) : `provided bad location ${name}: unknown time zone ${name}`;
  }
  return scheduleFault(expression);
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

function scheduleFault(schedule: string): string | undefined {
  if (schedule.startsWith('@every ')) {
    const duration = schedule.slice('@every '.length);
    if (!DURATION.test(duration)) return `failed to parse duration ${schedule}: invalid duration "${duration}"`;
    return duration.startsWith('-') ? `failed to parse duration ${schedule}: must not be negative` : undefined;
  }
  if (schedule.startsWith('@')) {
    return DESCRIPTORS.has(schedule) ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const parts = schedule.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, field] of FIELDS.entries()) {
    for (const member of (parts[index] ?? '').split(',')) {
      const fault = member === '' ? undefined : memberFault(member, field);
      if (fault !== undefined) return fault;
    }
  }
  return occurs(parts) ? undefined : 'schedule never occurs';
}

/** Where neither day field is a wildcard either of them may match, else both must. */
function occurs(parts: readonly string[]): boolean {
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => valuesOf(parts[index] ?? '', field));
  if (!minutes?.length || !hours?.length || !months?.length) return false;
  const [earliest = Infinity] = days?.toSorted((one, other) => one - other) ?? [];
  const hasDay = months.some((month) => earliest <= (LONGEST_MONTH_DAYS[month - 1] ?? 0));
  const hasWeekday = weekdays?.length !== 0;
  return isWildcard(parts[2]) || isWildcard(parts[4]) ? hasDay && hasWeekday : hasDay || hasWeekday;
}

const isWildcard = (part = ''): boolean =>
  part.split(',').some((member) => /^[*?](?:-[^/]*)?(?:\/\+?0*1)?$/.test(member));

/** What a part without fault matches. */
function valuesOf(part: string, field: Field): number[] {
  const members = part.split(',').filter((member) => member !== '');
  return members.flatMap((member) => {
    const [range = '', step] = member.split('/');
    const [low = '', high] = range.split('-');
    const first = numberOf(low, field);
    // A wildcard and `x/n` go on to the end of the field.
    const last = first === undefined ? undefined : numberOf(high ?? (step === undefined ? low : ''), field);
    const values = [];
    for (let value = first ?? field.min; value <= (last ?? field.max); value += Number(step ?? 1)) values.push(value);
    return values;
  });
}

function memberFault(member: string, field: Field): string | undefined {
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

function numberOf(word: string, field: Field): number | undefined {
  const index = field.words?.indexOf(word.toLowerCase()) ?? -1;
  if (index >= 0) return index + field.min;
  return /^\+?\d+$/.test(word) ? Number(word) : undefined;
}

const notANumber = (word: string): string => `failed to parse int from ${word}: invalid syntax`;
