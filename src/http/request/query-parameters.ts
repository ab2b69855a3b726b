import { InvalidResource } from '../../resources/errors.ts';

const WHOLE_NUMBER = /^\d{1,15}$/;
/** The API shows times with milliseconds. */
const UNIX_SECONDS = /^\d{1,15}(\.\d{1,9})?$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** The forms of a time, for the API description. */
export const TIME = 'Unix seconds or RFC 3339';

export const isTime = (value: string): boolean => UNIX_SECONDS.test(value) || RFC3339.test(value);

/** Returns a whole number; undefined if the parameter is absent or empty. @throws InvalidResource */
export function wholeNumberParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  if (!WHOLE_NUMBER.test(value)) throw new InvalidResource(`${name} must be a whole number`);
  return Number(value);
}

/** Returns a time in Unix milliseconds; undefined if the parameter is absent or empty. @throws InvalidResource */
export function timeParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  const atMs = UNIX_SECONDS.test(value)
    ? Math.round(Number(value) * 1000)
    : RFC3339.test(value)
      ? Date.parse(value)
      : NaN;
  if (Number.isNaN(atMs)) throw new InvalidResource(`${name} must be Unix seconds or an RFC 3339 time`);
  return atMs;
}

/** @throws InvalidResource for a parameter that is not in the list, or given more than once */
export function assertKnownParameters(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidResource(
      `unknown parameter ${JSON.stringify(unknown.slice(0, 100))}; the known ones are ${known.join(', ')}`,
    );
  }
  const repeated = known.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) throw new InvalidResource(`${repeated} must not be given more than once`);
}

/** Returns a text; undefined if the parameter is absent or empty. */
export const textParameter = (query: URLSearchParams, name: string): string | undefined => query.get(name) || undefined;

/** Returns one of the values; undefined if the parameter is absent or empty. @throws InvalidResource */
export function enumParameter<T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = textParameter(query, name);
  if (value === undefined) return undefined;
  const known = values.find((one) => one === value);
  if (known === undefined) throw new InvalidResource(`${name} must be one of ${values.join(', ')}`);
  return known;
}

/** The size of a page. @throws InvalidResource */
export function limitParameter(query: URLSearchParams, { byDefault, max }: { byDefault: number; max: number }): number {
  const limit = wholeNumberParameter(query, 'limit') ?? byDefault;
  if (limit === 0) throw new InvalidResource('limit must be at least 1');
  return Math.min(limit, max);
}
