import { InvalidResource } from '../../resources/errors.ts';
import { keyAfter } from '../../store/encoding/keyspace.ts';
import type { PageRequest } from '../../store/page.ts';
import { jsonArray } from './json-array.ts';
import type { Answer } from '../request/route.ts';

/** A larger limit means unlimited: no list is that long. */
const MAX_LIMIT = 1_000_000_000;
/** Longer positions cannot be store keys. */
const MAX_POSITION_BYTES = 1_900;
const WHOLE_NUMBER = /^\+?\d+$/;
const TOKEN = /^[A-Za-z0-9_-]+$/;

/** Parses `limit` and `continue`. An invalid limit means unlimited; an invalid token means the first page. */
export function pageRequest(query: URLSearchParams): PageRequest {
  return { limit: limitOf(query.get('limit')), from: positionOf(query.get('continue')) };
}

/**
 * Parses `limit` and `continue` of an API without clients of the reference. An empty value means that the parameter is absent.
 * @throws InvalidResource that names the parameter and the rule
 */
export function strictPageRequest(query: URLSearchParams): PageRequest {
  const limit = query.get('limit') ?? '';
  if (limit !== '' && !WHOLE_NUMBER.test(limit)) throw new InvalidResource('limit must be a whole number');
  const token = query.get('continue') ?? '';
  if (token !== '' && !isToken(token)) throw new InvalidResource('continue must be a value of Sensu-Continue');
  return pageRequest(query);
}

/** Whether a token is the encoding of a position that a store key can have. */
function isToken(token: string): boolean {
  const position = positionOf(token);
  return position !== undefined && Buffer.from(position).toString('base64url') === token;
}

function limitOf(value: string | null): number | undefined {
  if (value === null || !WHOLE_NUMBER.test(value)) return undefined;
  const limit = Number(value);
  return limit > 0 && limit <= MAX_LIMIT ? limit : undefined;
}

function positionOf(token: string | null): string | undefined {
  if (token === null || !TOKEN.test(token)) return undefined;
  const position = Buffer.from(token, 'base64url').toString();
  if (Buffer.byteLength(position) > MAX_POSITION_BYTES) return undefined;
  return position.startsWith('/') ? position.slice(1) : position;
}

/**
 * Responds with a list, and with the token of the next page if there is one. `lastKey` is the key of the page's last
 * item, shown or not.
 */
export function listAnswer<T extends object>(
  items: Iterable<T>,
  lastKey: string | undefined,
  isShown?: (item: T) => boolean,
): Answer {
  return {
    status: 200,
    type: 'application/json',
    body: jsonArray(items, isShown),
    ...(lastKey === undefined
      ? {}
      : { headers: { 'Sensu-Continue': Buffer.from(keyAfter(lastKey)).toString('base64url') } }),
  };
}
