import { setMaxListeners } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import type { Handler } from '../resources/handler.ts';
import type { Notification, OutboxEntry } from '../store/records.ts';
import { Fifo } from './fifo.ts';
import { canRun } from './handler-run.ts';
import type { HandlerResult, HandlerRun } from './handlers/handler-result.ts';
import { FairScheduler, type ScheduledRun } from './fair-scheduler.ts';
import { StartRetries } from './start-retries.ts';

/** Notifications that may wait. Past this number senders must pause. */
const MAX_WAITING = 100_000;
/** Size of their events. Past it senders must pause. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;
/** Notifications of a deleted namespace that are stored concurrently. */
const DROP_BATCH_SIZE = 100;
/** Time for running handlers during a stop. Later they are aborted, and run again after the next start. */
const STOP_GRACE_MS = 5_000;
/** Delay before retrying to store an outcome. */
const RETRY_MS = 1_000;
/** Size of an event that is read and parsed in the same turn of the event loop. */
const MAX_BYTES_PER_TURN = 4 * 1024 * 1024;
const NAMESPACE_DELETED = 'namespace was deleted';

export interface PipelinePorts {
  clock: Clock;
  log: Log;
  /** The entry with this outbox key. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /** Runs a handler with an entry until `signal` aborts it. Never rejects. */
  run(handler: Handler, entry: OutboxEntry, clock: Clock, signal: AbortSignal): Promise<HandlerRun>;
  /** The current configuration of the handler. */
  handler(namespace: string, name: string): Handler | undefined;
  namespaceExists(name: string): boolean;
  /**
   * Stores the outcome of an entry and removes it from the outbox. The entry of a dead letter is kept. Resolves when that is
   * durable.
   */
  done(outboxKey: string, key: string, notification: Notification, entry?: OutboxEntry): Promise<void>;
}

/** The part of an outbox entry that is kept in memory. */
export interface PendingNotification extends ScheduledRun {
  outboxKey: string;
  /** Key of the event. Entries with the same key run in order. */
  key: string;
  /** Size of the event. */
  bytes: number;
}

/**
 * Runs the handlers of the outbox. Entries with the same key run in order, others concurrently. An entry stays in the
 * outbox until its outcome is stored, so a crash repeats running handlers and loses nothing. A handler that cannot be
 * started for want of descriptors, processes or memory is tried again until it can.
 */
export class Pipeline {
  /** Completed runs since the process started, by outcome. */
  readonly runs = { handled: 0, failed: 0 };
  readonly #ports: PipelinePorts;
  readonly #scheduler = new FairScheduler<PendingNotification>();
  /** Entries that wait behind an earlier entry with the same key. */
  readonly #blocked = new Map<string, Fifo<PendingNotification>>();
  /** Work that must finish before `stop` resolves. */
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abortController = new AbortController();
  readonly #retries: StartRetries;
  #count = 0;
  #bytes = 0;
  #stopped = false;

  constructor(ports: PipelinePorts) {
    this.#ports = ports;
    this.#retries = new StartRetries(ports.clock, (handler) => {
      const hasRuns = this.#scheduler.resume(handler);
      this.#start();
      return hasRuns;
    });
    // Each running handler adds a listener.
    setMaxListeners(0, this.#abortController.signal);
  }

  /** Whether senders must pause. */
  get isFull(): boolean {
    return this.#count >= MAX_WAITING || this.#bytes >= MAX_WAITING_BYTES;
  }

  get waiting(): number {
    return this.#count;
  }

  get outbox(): QueueStats {
    return { used: this.#count, limit: MAX_WAITING };
  }

  get outboxBytes(): QueueStats {
    return { used: this.#bytes, limit: MAX_WAITING_BYTES };
  }

  get running(): QueueStats {
    return this.#scheduler.running;
  }

  /** Schedules an entry that was added to the outbox. */
  add(entry: PendingNotification): void {
    this.#count += 1;
    this.#bytes += entry.bytes;
    const blocked = this.#blocked.get(entry.key);
    if (blocked !== undefined) {
      blocked.push(entry);
      return;
    }
    this.#blocked.set(entry.key, new Fifo());
    this.#scheduler.add(entry);
    this.#start();
  }

  /** Skips the waiting notifications of a deleted namespace. Running handlers continue. */
  dropNamespace(namespace: string): void {
    const dropped = this.#scheduler.removeWaiting(namespace);
    const first = new Set(dropped.map(({ key }) => key));
    for (const [key, blocked] of this.#blocked) {
      if (!key.startsWith(`${namespace}/`)) continue;
      dropped.push(...blocked.drain());
      if (first.has(key)) this.#blocked.delete(key);
    }
    if (dropped.length === 0) return;
    this.#ports.log.warn(
      { namespace, notifications: dropped.length },
      'skipping the notifications of a deleted namespace',
    );
    this.#track(this.#settleDropped(dropped));
  }

  /**
   * Resolves when the running handlers have finished or were aborted. Aborted and waiting entries stay in the outbox.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retries.stop();
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#abortController.abort(new Error('the backend stops'));
    });
    await Promise.all(this.#inFlight);
    cancel();
  }

  #start(): void {
    while (!this.#stopped) {
      const entry = this.#scheduler.next();
      if (entry === undefined) return;
      this.#track(this.#run(entry));
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  async #run(entry: PendingNotification): Promise<void> {
    let isStarted = true;
    try {
      isStarted = await this.#handle(entry);
    } finally {
      if (isStarted) this.#finished(entry);
      else this.#scheduler.postpone(entry);
      this.#start();
    }
  }

  #finished(entry: PendingNotification): void {
    this.#release(entry);
    this.#scheduler.finished(entry);
    const next = this.#blocked.get(entry.key)?.shift();
    if (next === undefined) this.#blocked.delete(entry.key);
    else this.#scheduler.add(next);
  }

  #release({ bytes }: PendingNotification): void {
    this.#count -= 1;
    this.#bytes -= bytes;
  }

  /** Returns false when the handler could not be started and must be tried again. */
  async #handle(waiting: PendingNotification): Promise<boolean> {
    const { clock, log, run, entry: read, handler: lookUp } = this.#ports;
    const entry = read(waiting.outboxKey);
    if (entry === undefined) return true;
    // A large event is parsed at its first use below, in a turn of its own.
    if (waiting.bytes > MAX_BYTES_PER_TURN) await nextTick();
    const startedMs = clock.monotonicMs();
    const handler = lookUp(entry.namespace, entry.handler);
    const skipReason = this.#skipReason(entry.namespace, handler);
    let result: HandlerResult = { outcome: 'skipped', reason: skipReason ?? '', status: undefined };
    if (handler !== undefined && skipReason === undefined) {
      const ran = await run(handler, entry, clock, this.#abortController.signal);
      if (this.#abortController.signal.aborted) return true;
      if (ran.outcome === 'not-started') {
        this.#tryAgain(waiting, ran.reason);
        return false;
      }
      this.#retries.started(waiting);
      result = ran;
      this.runs[result.outcome === 'handled' ? 'handled' : 'failed'] += 1;
    }
    const fields = {
      namespace: entry.namespace,
      handler: entry.handler,
      event: entry.key,
      event_id: entry.event.id,
      notification: entry.notificationId,
      ...result,
    };
    if (result.outcome === 'handled') log.info(fields, 'event handler executed');
    else log.error(fields, 'event was not handled');
    await this.#store(waiting, this.#notification(entry, result, Math.round(clock.monotonicMs() - startedMs)));
    return true;
  }

  #tryAgain({ namespace, handler }: PendingNotification, reason: string): void {
    if (this.#stopped) return;
    const delayMs = this.#retries.failed({ namespace, handler });
    if (delayMs === undefined) return;
    const fields = { namespace, handler, reason, retry_in_ms: delayMs };
    this.#ports.log.warn(fields, 'could not start a handler, its events stay in the outbox');
  }

  /** Why the handler cannot run with its current configuration, if so. */
  #skipReason(namespace: string, handler: Handler | undefined): string | undefined {
    if (handler !== undefined) return canRun(handler) ? undefined : `handler is of type ${handler.type} now`;
    return this.#ports.namespaceExists(namespace) ? 'handler does not exist' : NAMESPACE_DELETED;
  }

  #notification(entry: OutboxEntry, result: HandlerResult, durationMs: number): Notification {
    const { notificationId: id, handler, pipeline, workflow, decidedAtMs } = entry;
    const eventId = entry.event.id ?? undefined;
    return {
      id,
      handler,
      pipeline,
      workflow,
      eventId,
      ...result,
      decidedAtMs,
      atMs: this.#ports.clock.nowMs(),
      durationMs,
    };
  }

  async #settleDropped(dropped: PendingNotification[]): Promise<void> {
    for (let at = 0; at < dropped.length && !this.#stopped; at += DROP_BATCH_SIZE) {
      await Promise.all(dropped.slice(at, at + DROP_BATCH_SIZE).map((waiting) => this.#skip(waiting)));
    }
  }

  async #skip(waiting: PendingNotification): Promise<void> {
    const entry = this.#ports.entry(waiting.outboxKey);
    const result: HandlerResult = { outcome: 'skipped', reason: NAMESPACE_DELETED, status: undefined };
    if (entry !== undefined) await this.#store(waiting, this.#notification(entry, result, 0));
    this.#release(waiting);
  }

  /** Stores an outcome, with retries. The handler is not run again. */
  async #store({ outboxKey, key }: PendingNotification, notification: Notification): Promise<void> {
    for (;;) {
      try {
        await this.#ports.done(outboxKey, key, notification);
        return;
      } catch (err) {
        if (this.#stopped) return;
        this.#ports.log.warn(
          { err, handler: notification.handler },
          'failed to store the outcome of a handler, retrying',
        );
        await new Promise<void>((resolve) => void this.#ports.clock.after(RETRY_MS, resolve));
      }
    }
  }
}
