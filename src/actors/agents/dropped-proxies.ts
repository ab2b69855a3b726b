import { LRUCache } from 'lru-cache';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { type LoggedSubject, LogThrottle } from '../../rules/log-throttle.ts';

/** The maximum number of remembered entities. Beyond it the one whose event was dropped longest ago is forgotten. */
const MAX_REMEMBERED_ENTITIES = 1_000;

/** Logs, once a minute for each entity, that events of a new proxy entity are dropped at the entity limit. */
export class DroppedProxies {
  readonly #remembered = new LRUCache<string, LoggedSubject>({ max: MAX_REMEMBERED_ENTITIES });
  readonly #throttle = new LogThrottle(this.#remembered);
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get remembered(): QueueStats {
    return { used: this.#remembered.size, limit: MAX_REMEMBERED_ENTITIES };
  }

  note(entity: string, agent: string, atMs: number): void {
    const events = this.#throttle.note(entity, atMs);
    if (events === undefined) return;
    this.#log.warn({ entity, agent, events }, 'entity limit reached, events of a new proxy entity are dropped');
  }
}
