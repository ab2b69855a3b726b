import { InvalidResource } from '../../resources/errors.ts';

const DEFAULT_S = 3;
/** Applies when the client asks for no limit: the server closes the connection at that time anyway. */
const MAX_TIMEOUT_MS = 15_000;
const MAX_INTEGER = 9_223_372_036_854_775_807n;

export const TIMEOUT_DESCRIPTION = `Timeout in seconds, ${DEFAULT_S} by default; 0 or less means no timeout`;

/**
 * Parses the parameter `timeout`, in whole seconds; 0 or less means no limit.
 * @throws InvalidResource with the error text of the API contract
 */
export function timeoutMsOf(query: URLSearchParams): number {
  const seconds = query.get('timeout') ?? '';
  if (seconds === '') return DEFAULT_S * 1_000;
  if (!/^[+-]?\d+$/.test(seconds)) throw invalidTimeout(seconds, 'invalid syntax');
  const value = BigInt(seconds.replace('+', ''));
  if (value > MAX_INTEGER || value < -MAX_INTEGER) throw invalidTimeout(seconds, 'value out of range');
  return value <= 0n ? MAX_TIMEOUT_MS : Math.min(Number(value) * 1_000, MAX_TIMEOUT_MS);
}

const invalidTimeout = (seconds: string, problem: string): InvalidResource =>
  new InvalidResource(`strconv.Atoi: parsing ${JSON.stringify(seconds)}: ${problem}`);
