import { InvalidResource } from '../../resources/errors.ts';

const DEFAULT_S = 3;
/** When no limit is asked for: later the connection is cut anyway. */
const LONGEST_MS = 15_000;
const MAX_INTEGER = 9_223_372_036_854_775_807n;

export const TIMEOUT_ABOUT = `seconds; ${DEFAULT_S} unless told, 0 and less for none`;

/** The parameter `timeout`: whole seconds, of which 0 and less are no limit. @throws InvalidResource with the text that clients know */
export function timeoutMsOf(query: URLSearchParams): number {
  const seconds = query.get('timeout') ?? '';
  if (seconds === '') return DEFAULT_S * 1_000;
  if (!/^[+-]?\d+$/.test(seconds)) throw unreadable(seconds, 'invalid syntax');
  const value = BigInt(seconds.replace('+', ''));
  if (value > MAX_INTEGER || value < -MAX_INTEGER) throw unreadable(seconds, 'value out of range');
  return value <= 0n ? LONGEST_MS : Math.min(Number(value) * 1_000, LONGEST_MS);
}

const unreadable = (seconds: string, why: string): InvalidResource =>
  new InvalidResource(`strconv.Atoi: parsing ${JSON.stringify(seconds)}: ${why}`);
