import { afterPrefix } from './keyspace.ts';
import type { TableName, Tables } from './records.ts';
import type { TransactionalStore } from './transactional-store.ts';

export interface PageRequest {
  /** Most items to return; undefined = all. */
  limit?: number | undefined;
  /** Keys at or after this one, relative to the prefix; undefined = from the beginning. */
  from?: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** The key, relative to the prefix, after which the next page begins; undefined on the last one. */
  lastKey: string | undefined;
}

/** The items under a prefix (which ends with a slash) in order of keys; costs the page, not the collection. */
export function readPage<T extends TableName>(
  store: TransactionalStore,
  table: T,
  prefix: string,
  { limit, from = '' }: PageRequest,
): Page<Tables[T]> {
  const range = { from: prefix + from, to: afterPrefix(prefix), ...(limit === undefined ? {} : { limit: limit + 1 }) };
  const found = [...store.range(table, range)];
  const shown = limit === undefined ? found : found.slice(0, limit);
  return {
    items: shown.map(({ value }) => value),
    lastKey: found.length > shown.length ? shown.at(-1)?.key.slice(prefix.length) : undefined,
  };
}
