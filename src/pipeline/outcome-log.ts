import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Log } from '../ports/log.ts';
import { type LoggedSubject, LogThrottle } from '../rules/log-throttle.ts';
import { eventAddress } from '../store/encoding/keyspace.ts';
import type { OutboxEntry } from '../store/records/records.ts';
import type { HandlerResult } from './handlers/handler-result.ts';

/** The maximum number of remembered handlers and outcomes. Beyond it the one that was logged longest ago is forgotten. */
const MAX_REMEMBERED_OUTCOMES = 1_000;

/** Logs the outcomes of runs: those without success as a warning, once a minute for each handler and outcome. */
export class OutcomeLog {
  readonly #throttle = new LogThrottle(new LRUCache<string, LoggedSubject>(atMost(MAX_REMEMBERED_OUTCOMES)));
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  note(entry: OutboxEntry, { outcome, reason, status }: HandlerResult, atMs: number): void {
    const { notificationId, namespace, pipeline, workflow, handler, event } = entry;
    const { entity, check } = eventAddress(entry.key);
    const names = { namespace, entity, check, pipeline, workflow, handler };
    const fields = { ...names, event_id: event.id, notification: notificationId, outcome, reason, status };
    if (outcome === 'handled') this.#log.info(fields, 'event handler executed');
    else if (outcome === 'denied') this.#log.debug(fields, 'event was denied by a filter');
    else this.#warn(fields, [namespace, pipeline, workflow, handler, outcome].join('/'), atMs);
  }

  /** `events` is the number of outcomes since the last line. */
  #warn(fields: Readonly<Record<string, unknown>>, subject: string, atMs: number): void {
    const events = this.#throttle.note(subject, atMs);
    if (events !== undefined) this.#log.warn({ ...fields, events }, 'event was not handled');
  }
}
