import { setImmediate as nextTick } from 'node:timers/promises';
import { afterPrefix, keyAfter } from './encoding/keyspace.ts';
import type { TableName } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';

/** The maximum number of keys in one tick of the event loop, without and with `isCounted`, which may read records. */
const KEYS_PER_TICK = 1_000;
const CHECKED_PER_TICK = 50;

export interface KeyCount {
  table: TableName;
  prefix: string;
  /** Counts all keys by default. */
  isCounted?: ((key: string) => boolean) | undefined;
  /** Returns true when the caller has disconnected; the count then ends early, with an incomplete number. */
  isDisconnected?: (() => boolean) | undefined;
}

/** Counts the keys that begin with a prefix, without reading their records. It yields to other work. */
export async function countKeys(
  store: RangeReader,
  { table, prefix, isCounted, isDisconnected = () => false }: KeyCount,
): Promise<number> {
  const to = afterPrefix(prefix);
  const limit = isCounted === undefined ? KEYS_PER_TICK : CHECKED_PER_TICK;
  let count = 0;
  for (let from: string | undefined = prefix; from !== undefined && !isDisconnected();) {
    let [read, last] = [0, ''];
    for (const key of store.keys(table, { from, to, limit })) {
      [read, last] = [read + 1, key];
      if (isCounted?.(key) !== false) count += 1;
    }
    from = read < limit ? undefined : keyAfter(last);
    if (from !== undefined) await nextTick();
  }
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
