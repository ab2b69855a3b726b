import { afterPrefix, keyAfter } from './encoding/keyspace.ts';
import type { TableName, Tables } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';

export interface PageRequest {
  /** The maximum number of items; undefined = all. */
  limit?: number | undefined;
  /** Keys at or after this one, relative to the prefix; undefined = from the beginning. */
  from?: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** The key, relative to the prefix, after which the next page begins; undefined on the last one. */
  lastKey: string | undefined;
}

/** A page whose items are read on each iteration. Items that change meanwhile may be missed; all others are seen exactly once. */
export interface LazyPage<T> {
  items: Iterable<T>;
  lastKey: string | undefined;
}

/** Reads the items under a prefix, which is empty or ends with a slash, in order of keys. The cost depends on the page, not on the collection. */
export function readPage<T extends TableName>(
  store: RangeReader,
  table: T,
  prefix: string,
  page: PageRequest,
): Page<Tables[T]> {
  const { items, lastKey } = lazyPage(store, table, prefix, page);
  return { items: [...items], lastKey };
}

/** Reads a page as `readPage` does, for pages that are too long for memory or for one tick. */
export function lazyPage<T extends TableName>(
  store: RangeReader,
  table: T,
  prefix: string,
  { limit, from: position = '' }: PageRequest,
): LazyPage<Tables[T]> {
  const from = prefix + position;
  const end = afterPrefix(prefix);
  const lastKey = limit === undefined ? undefined : lastKeyOf(store, table, { from, to: end, limit });
  const to = lastKey === undefined ? end : keyAfter(lastKey);
  const items = { [Symbol.iterator]: () => valuesIn(store, table, from, to) };
  return { items, lastKey: lastKey?.slice(prefix.length) };
}

/** Returns the key of the last item if others follow it. */
function lastKeyOf(
  store: RangeReader,
  table: TableName,
  { from, to, limit }: { from: string; to: string; limit: number },
): string | undefined {
  const [last, next] = store.keys(table, { from, to, offset: limit - 1, limit: 2 });
  return next === undefined ? undefined : last;
}

/**
 * Reads one item at a time, because each may have megabytes. A microtask closes the cursor, so that none stays open
 * while the caller awaits something; the next item opens another one. Between two items the caller must not write to
 * the store unless it awaits the write.
 */
function* valuesIn<T extends TableName>(store: RangeReader, table: T, from: string, to: string): Generator<Tables[T]> {
  for (let start = from; ;) {
    const cursor = store.range(table, { from: start, to })[Symbol.iterator]();
    let isCursorClosed = false;
    queueMicrotask(() => {
      isCursorClosed = true;
      cursor.return?.();
    });
    for (let next = cursor.next(); next.done !== true; next = cursor.next()) {
      const { key, value } = next.value;
      yield value;
      start = keyAfter(key);
    }
    if (!isCursorClosed) return;
  }
}

/** Returns the page with `make` applied to each item. */
export function mapPage<T, U>({ items, lastKey }: LazyPage<T>, make: (item: T) => U): LazyPage<U> {
  return {
    items: {
      *[Symbol.iterator]() {
        for (const item of items) yield make(item);
      },
    },
    lastKey,
  };
}
