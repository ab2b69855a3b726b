import { setImmediate as nextTick } from 'node:timers/promises';
import { jsonArray } from '../answer/json-array.ts';
import type { Answer } from '../request/route.ts';
import { digitsIn } from './earlier-query.ts';
import type { EarlierRequest } from './earlier-route.ts';

/** One part of a list: that of a datacenter. */
export interface ListPart {
  /** Ends early, with any number, when the client has disconnected. */
  count(isDisconnected: () => boolean): number | Promise<number>;
  /** The items from `offset`, at most `limit`, read one at a time. */
  items(page: { offset: number; limit: number }): Iterable<object>;
}

const FILTER = 'filter.';

/**
 * Returns a list, or the page of it that the query names, with the header that older clients read. Filters apply to the page and do
 * not change the total. A list without a limit is read while it is sent. Source: spec/05 2.5.
 */
export async function listed({ query, isDisconnected }: EarlierRequest, parts: readonly ListPart[]): Promise<Answer> {
  const filters = filtersIn(query);
  const fits = (item: object): boolean => filters.every((filter) => filter(item));
  const limit = digitsIn(query, 'limit');
  const type = 'application/json' as const;
  if (limit === undefined) return { status: 200, type, body: jsonArray(itemsOf(parts, 0, Infinity), fits) };
  const offset = digitsIn(query, 'offset') ?? 0;
  const counts: number[] = [];
  for (const part of parts) {
    if (isDisconnected()) break;
    counts.push(await part.count(isDisconnected));
    await nextTick();
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  // The first generation sends no header for a list that is empty without paging.
  const headers = total === 0 ? {} : { 'X-Pagination': JSON.stringify({ limit, offset, total }) };
  return { status: 200, type, headers, body: jsonArray(itemsOf(parts, offset, limit, counts), fits) };
}

function* itemsOf(
  parts: readonly ListPart[],
  offset: number,
  limit: number,
  counts: readonly number[] = [],
): Iterable<object> {
  let skipped = offset;
  let left = limit;
  for (const [index, part] of parts.entries()) {
    if (left === 0) return;
    const count = counts[index] ?? Infinity;
    if (skipped >= count) {
      skipped -= count;
      continue;
    }
    for (const item of part.items({ offset: skipped, limit: left })) {
      left -= 1;
      yield item;
    }
    skipped = 0;
  }
}

type Filter = (item: object) => boolean;

/** An absent member and `null` equal an empty text; lists and objects equal nothing. */
function filtersIn(query: ReadonlyMap<string, string>): Filter[] {
  const filters: Filter[] = [];
  for (const [name, wanted] of query) {
    if (!name.startsWith(FILTER) || name === FILTER) continue;
    const path = name.slice(FILTER.length).split('.');
    filters.push((item) => textOf(memberOf(item, path)) === wanted);
  }
  return filters;
}

function memberOf(item: unknown, path: readonly string[]): unknown {
  let value = item;
  for (const name of path) {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
