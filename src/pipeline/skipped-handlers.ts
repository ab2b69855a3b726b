import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Log } from '../ports/log.ts';
import { type LoggedSubject, LogThrottle } from '../rules/log-throttle.ts';
import type { HandlerSkipped } from '../store/commit/decision.ts';

/** The maximum number of remembered handlers and reasons. Beyond it the one that was skipped longest ago is forgotten. */
const MAX_REMEMBERED_SKIPS = 1_000;
const MISSING = 'handler does not exist';

/** Logs, once a minute for each handler and reason, the handlers that are not run with events that name them. */
export class SkippedHandlers {
  readonly #throttle = new LogThrottle(new LRUCache<string, LoggedSubject>(atMost(MAX_REMEMBERED_SKIPS)));
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  note({ namespace, pipeline, workflow, handler, others, key, reason }: HandlerSkipped, atMs: number): void {
    const events = this.#throttle.note([namespace, pipeline, workflow, handler, reason].join('/'), atMs);
    if (events === undefined) return;
    const fields = { namespace, pipeline, workflow, handler, others, event: key, events };
    if (reason === MISSING) this.#log.warn(fields, 'handler does not exist, will be ignored');
    else this.#log.warn({ ...fields, reason }, 'event was not handled');
  }
}
