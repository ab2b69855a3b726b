import { LRUCache } from 'lru-cache';
import type { Log } from '../ports/log.ts';
import type { HandlerSkipped } from '../store/decision.ts';

/** The time between two log lines about one handler and reason. */
const LOG_INTERVAL_MS = 60_000;
/** The maximum number of remembered handlers and reasons. Beyond it the one that was skipped longest ago is forgotten. */
const MAX_REMEMBERED_SKIPS = 1_000;
const MISSING = 'handler does not exist';

interface Skipped {
  loggedAtMs: number;
  /** Events since the last line. */
  count: number;
}

/** Logs, once a minute for each handler and reason, the handlers that are not run with events that name them. */
export class SkippedHandlers {
  readonly #remembered = new LRUCache<string, Skipped>({ max: MAX_REMEMBERED_SKIPS });
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  note({ namespace, handler, key, reason }: HandlerSkipped, atMs: number): void {
    const id = `${namespace}/${handler}/${reason}`;
    const known = this.#remembered.get(id);
    const count = (known?.count ?? 0) + 1;
    if (known !== undefined && atMs - known.loggedAtMs < LOG_INTERVAL_MS) {
      this.#remembered.set(id, { ...known, count });
      return;
    }
    this.#remembered.set(id, { loggedAtMs: atMs, count: 0 });
    const fields = { namespace, handler, event: key, events: count };
    if (reason === MISSING) this.#log.warn(fields, 'handler does not exist, will be ignored');
    else this.#log.warn({ ...fields, reason }, 'event was not handled');
  }
}
