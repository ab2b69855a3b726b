import { InvalidResource } from '../../resources/errors.ts';

const WHOLE_NUMBER = /^\d{1,15}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** The forms of a time, for the API description. */
export const TIME = 'Unix seconds or RFC 3339';

export const isTime = (value: string): boolean => WHOLE_NUMBER.test(value) || RFC3339.test(value);

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
  const atMs = WHOLE_NUMBER.test(value) ? Number(value) * 1000 : RFC3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(atMs)) throw new InvalidResource(`${name} must be Unix seconds or an RFC 3339 time`);
  return atMs;
}
