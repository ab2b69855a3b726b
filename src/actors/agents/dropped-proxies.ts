import { LRUCache } from 'lru-cache';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';

/** The time between two log lines about one entity. */
const LOG_INTERVAL_MS = 60_000;
/** The maximum number of remembered entities. Beyond it the one whose event was dropped longest ago is forgotten. */
const MAX_REMEMBERED_ENTITIES = 1_000;

interface Dropped {
  loggedAtMs: number;
  /** Dropped events since the last line. */
  count: number;
}

/** Logs, once a minute for each entity, that events of a new proxy entity are dropped at the entity limit. */
export class DroppedProxies {
  readonly #remembered = new LRUCache<string, Dropped>({ max: MAX_REMEMBERED_ENTITIES });
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get remembered(): QueueStats {
    return { used: this.#remembered.size, limit: MAX_REMEMBERED_ENTITIES };
  }

  note(entity: string, agent: string, atMs: number): void {
    const known = this.#remembered.get(entity);
    const count = (known?.count ?? 0) + 1;
    if (known !== undefined && atMs - known.loggedAtMs < LOG_INTERVAL_MS) {
      this.#remembered.set(entity, { ...known, count });
      return;
    }
    this.#remembered.set(entity, { loggedAtMs: atMs, count: 0 });
    this.#log.warn({ entity, agent, events: count }, 'entity limit reached, events of a new proxy entity are dropped');
  }
}
