import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import type { ResourceRecord } from '../records/records.ts';

/** Decoded resources that are cached, absent ones included. */
const MAX_CACHED_RESOURCES = 10_000;
/** Resources that were read since the last change of one, which are found without keeping account of their use. */
const MAX_HOT_RESOURCES = 1_000;
const ABSENT: ResourceRecord = Object.freeze({});

/** Configuration is read with every event and changes rarely, so that it is cached. */
export class ResourceCache {
  readonly #read: (key: string) => ResourceRecord | undefined;
  readonly #cached = new LRUCache<string, ResourceRecord>(atMost(MAX_CACHED_RESOURCES));
  readonly #hot = new Map<string, ResourceRecord>();

  /** `read` reads the stored resource. */
  constructor(read: (key: string) => ResourceRecord | undefined) {
    this.#read = read;
  }

  get stats(): QueueStats {
    return { used: this.#cached.size, limit: MAX_CACHED_RESOURCES };
  }

  get(key: string): ResourceRecord | undefined {
    let known = this.#hot.get(key);
    if (known === undefined) {
      known = this.#lessHot(key);
      if (this.#hot.size >= MAX_HOT_RESOURCES) this.#hot.clear();
      this.#hot.set(key, known);
    }
    return known === ABSENT ? undefined : known;
  }

  #lessHot(key: string): ResourceRecord {
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached;
    const read = this.#read(key) ?? ABSENT;
    this.#cached.set(key, read);
    return read;
  }

  /** Must be called when resources were written. */
  forget(keys: Iterable<string>): void {
    this.#hot.clear();
    for (const key of keys) this.#cached.delete(key);
  }
}
