/** A point in time as it was written. */
export interface WrittenTime {
  /** Unix ms. */
  atMs: number;
  /** The UTC offset in which the time was written. */
  offsetMs: number;
}

const RFC3339 =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d?):(?<minute>\d\d):(?<second>\d\d)(?<fraction>[.,]\d+)?(?:Z|(?<sign>[+-])(?<offsetHours>\d\d):(?<offsetMinutes>\d\d))$/;
/** The largest value of each part. */
const LARGEST = { month: 12, hour: 23, minute: 59, second: 59, offsetHours: 24, offsetMinutes: 60 } as const;
const MINUTE_MS = 60_000;

/**
 * Parses a time as in RFC 3339. Like the reference, it also accepts an hour of one digit, a comma before the fraction,
 * and offsets up to 24:60. Returns undefined for another format, and for days, times and offsets that do not exist.
 */
export function parseRfc3339(text: string): WrittenTime | undefined {
  const parts = RFC3339.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const valueOf = (part: string): number => Number(parts[part] ?? 0);
  if (Object.entries(LARGEST).some(([part, largest]) => valueOf(part) > largest)) return undefined;
  const [month, day] = [valueOf('month') - 1, valueOf('day')];
  const midnight = new Date(0);
  midnight.setUTCFullYear(valueOf('year'), month, day);
  // A day that the month does not have is in another month.
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  const minutes = valueOf('hour') * 60 + valueOf('minute');
  const fractionMs = Math.floor(Number(`0.${(parts['fraction'] ?? '.0').slice(1)}`) * 1_000);
  const clockMs = minutes * MINUTE_MS + valueOf('second') * 1_000 + fractionMs;
  const sign = parts['sign'] === '-' ? -1 : 1;
  const offsetMs = sign * (valueOf('offsetHours') * 60 + valueOf('offsetMinutes')) * MINUTE_MS;
  return { atMs: midnight.getTime() + clockMs - offsetMs, offsetMs };
}
