import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { EntityFull, type EntityLimitReached } from '../../resources/errors.ts';
import { type LoggedSubject, LogThrottle } from '../../rules/log-throttle.ts';

/** The maximum number of remembered entities. Beyond it the one whose event was dropped longest ago is forgotten. */
const MAX_REMEMBERED_ENTITIES = 1_000;

/** Logs, once a minute for each entity, that its events are dropped at the entity limit or at the limits of one entity. */
export class DroppedEvents {
  readonly #remembered = new LRUCache<string, LoggedSubject>(atMost(MAX_REMEMBERED_ENTITIES));
  readonly #throttle = new LogThrottle(this.#remembered);
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get remembered(): QueueStats {
    return { used: this.#remembered.size, limit: MAX_REMEMBERED_ENTITIES };
  }

  note(error: EntityLimitReached | EntityFull, agent: string, atMs: number): void {
    const { entity, message } = error;
    const events = this.#throttle.note(entity, atMs);
    if (events === undefined) return;
    if (error instanceof EntityFull)
      this.#log.warn({ entity, agent, events, reason: message }, 'entity is full, events are dropped');
    else this.#log.warn({ entity, agent, events }, 'entity limit reached, events of a new proxy entity are dropped');
  }
}
