import { afterPrefix, keyAfter } from './encoding/keyspace.ts';
import type { TableName } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';

/** Counts the keys that begin with a prefix, without reading their records. */
export function countKeys(store: RangeReader, table: TableName, prefix: string): number {
  let count = 0;
  const keys = store.keys(table, { from: prefix, to: afterPrefix(prefix) })[Symbol.iterator]();
  while (keys.next().done !== true) count += 1;
  return count;
}

/** Yields keys that begin with a prefix, in order, and holds no cursor between two of them. */
export function* pageOfKeys(
  store: RangeReader,
  table: TableName,
  prefix: string,
  { offset, limit }: { offset: number; limit: number },
): Iterable<string> {
  const to = afterPrefix(prefix);
  let position = { from: prefix, offset };
  for (let listed = 0; listed < limit; listed += 1) {
    const [key] = store.keys(table, { ...position, to, limit: 1 });
    if (key === undefined) return;
    yield key;
    position = { from: keyAfter(key), offset: 0 };
  }
}
