import { countKeys, pageOfKeys } from './key-pages.ts';
import { stashKey } from './encoding/keyspace.ts';
import type { RangeReader } from './commit/transactional-store.ts';

/** A document of a client of the first generation. */
export interface Stash {
  path: string;
  content: object;
  /** Unix seconds; `null` for no end. */
  expireAtS: number | null;
}

/** The durable documents. Those that have expired are hidden. */
export class StashStore {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = store;
  }

  get(namespace: string, path: string, nowS: number): Stash | undefined {
    return this.#read(stashKey(namespace, path), nowS);
  }

  /** Lists documents in the order of their keys, and reads one at a time. */
  *list(namespace: string, nowS: number): Iterable<Stash> {
    for (const key of pageOfKeys(this.#store, 'resources', stashKey(namespace, ''), { offset: 0, limit: Infinity })) {
      const stash = this.#read(key, nowS);
      if (stash !== undefined) yield stash;
    }
  }

  /** The number of documents, with those that have expired and are not removed yet. */
  count(namespace: string): Promise<number> {
    return countKeys(this.#store, { table: 'resources', prefix: stashKey(namespace, '') });
  }

  #read(key: string, nowS: number): Stash | undefined {
    const stash = this.#store.get('resources', key) as Stash | undefined;
    return stash === undefined || (stash.expireAtS !== null && stash.expireAtS <= nowS) ? undefined : stash;
  }
}
