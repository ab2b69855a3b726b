import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { TransactionalStore } from './transactional-store.ts';

/** Values of the table `meta` in memory. Above this number, the least recently used one is dropped. */
const MAX_CACHED_VALUES = 1_000;

/** The durable values of the table `meta`: each entry of the ledger has the revision of the configuration, which is one of them. */
export class CachedMeta {
  readonly #store: Pick<TransactionalStore, 'get'>;
  readonly #values = new LRUCache<string, NonNullable<unknown>>(atMost(MAX_CACHED_VALUES));

  constructor(store: Pick<TransactionalStore, 'get'>) {
    this.#store = store;
  }

  get(key: string): unknown {
    const cached = this.#values.get(key);
    if (cached !== undefined) return cached;
    const read = this.#store.get('meta', key) ?? undefined;
    if (read !== undefined) this.#values.set(key, read);
    return read;
  }

  /** Must be called when these changes are durable. */
  committed(changes: ReadonlyMap<string, unknown>): void {
    for (const key of changes.keys()) this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
  }
}
