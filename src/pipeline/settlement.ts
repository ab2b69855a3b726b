import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { Notification, OutboxEntry } from '../store/records/records.ts';
import type { HandlerResult } from './handlers/handler-result.ts';
import { OutcomeLog } from './outcome-log.ts';
import type { PendingRun } from './pending-runs.ts';
import type { EventPacer } from './event-pacer.ts';

/** The maximum number of outcomes of runs that did not take place that are stored concurrently. */
const BATCH_SIZE = 100;
/** Delay before retrying to store an outcome. */
const RETRY_MS = 1_000;

export interface SettlementPorts {
  clock: Clock;
  log: Log;
  eventPacer: EventPacer;
  /** The entry with this outbox key. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /**
   * Stores the outcome of an entry and removes it from the outbox. The entry of a dead letter is kept. Resolves when that is
   * durable.
   */
  done(outboxKey: string, key: string, notification: Notification, entry?: OutboxEntry): Promise<void>;
}

/** Logs and stores the outcomes of runs, and tries again until the store can be written. */
export class Settlement {
  readonly #ports: SettlementPorts;
  readonly #log: OutcomeLog;
  #isStopped = false;

  constructor(ports: SettlementPorts) {
    this.#ports = ports;
    this.#log = new OutcomeLog(ports.log);
  }

  /**
   * Resolves when the outcome is durable. Also resolves after `stop`, and when the outcome cannot be stored although the store can be
   * written: the entry then stays in the outbox, and its handler runs again after the next start.
   */
  async settle(
    { outboxKey, key, attempts }: Pick<PendingRun, 'outboxKey' | 'key' | 'attempts'>,
    entry: OutboxEntry,
    { outcome, reason, status }: HandlerResult,
    durationMs: number,
  ): Promise<void> {
    const { clock } = this.#ports;
    const { notificationId: id, pipeline, workflow, nth, handler, event, decidedAtMs } = entry;
    this.#log.note(entry, { outcome, reason, status }, clock.nowMs());
    const isDeadLetter = outcome === 'failed' || outcome === 'timed-out';
    const notification: Notification = {
      id,
      handler,
      pipeline,
      workflow,
      nth,
      eventId: event.id ?? undefined,
      outcome,
      reason,
      status,
      attempts: attempts > 1 ? attempts : undefined,
      decidedAtMs,
      atMs: clock.nowMs(),
      durationMs,
      isDeadLetter: isDeadLetter || undefined,
    };
    await this.#store(outboxKey, key, notification, entry);
  }

  /** Stores one outcome for runs that are not running, in their order, and calls `settled` after each. */
  async settleUnrun(
    runs: readonly PendingRun[],
    result: HandlerResult,
    settled: (run: PendingRun) => void,
  ): Promise<void> {
    for (let at = 0; at < runs.length && !this.#isStopped; at += BATCH_SIZE) {
      await Promise.all(
        runs.slice(at, at + BATCH_SIZE).map(async (run) => {
          await this.#ports.eventPacer.admit(run.bytes);
          const entry = this.#ports.entry(run.outboxKey);
          if (entry !== undefined) await this.settle(run, entry, result, 0);
          settled(run);
        }),
      );
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #store(outboxKey: string, key: string, notification: Notification, entry: OutboxEntry): Promise<void> {
    const { clock, log, done } = this.#ports;
    for (;;) {
      try {
        await done(outboxKey, key, notification, entry);
        return;
      } catch (err) {
        if (this.#isStopped) return;
        const fields = { err, handler: notification.handler };
        if (!(err instanceof StoreUnavailable)) {
          log.error(fields, 'the outcome of a handler cannot be stored; the handler runs again after the next start');
          return;
        }
        log.warn(fields, 'failed to store the outcome of a handler, retrying');
        await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
      }
    }
  }
}
