import { setMaxListeners } from 'node:events';
import type { QueueStats } from '../ports/queue-stats.ts';
import type { Notification, OutboxEntry } from '../store/records/records.ts';
import { FairScheduler } from './fair-scheduler.ts';
import type { HandlerResult, HandlerRun } from './handlers/handler-result.ts';
import { KeyQueues } from './key-queues.ts';
import { type PendingNotification, type PendingRun, PendingRuns } from './pending-runs.ts';
import { type NextAttempt, Redelivery, type RedeliveryPorts } from './redelivery.ts';
import { Settlement } from './settlement.ts';
import { EventPacer } from './event-pacer.ts';
import { NAMESPACE_DELETED, type RunOptions } from './workflow-run.ts';

/** The maximum number of waiting notifications. Beyond it, senders must pause. */
const MAX_WAITING = 100_000;
/** The maximum size of their events, bytes. Beyond it, senders must pause. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;
/** How long a stop waits for running handlers. Then they are aborted, and run again after the next start. */
const STOP_GRACE_MS = 5_000;

export interface PipelinePorts extends Pick<
  RedeliveryPorts,
  'clock' | 'log' | 'random' | 'attempted' | 'delivery' | 'handlerRetryForMs'
> {
  /** Handlers that run concurrently; 100 by default. */
  maxRunning?: number | undefined;
  /** How long a run waits for earlier runs of its key with other handlers, ms; two seconds by default. */
  patienceMs?: number | undefined;
  /** The entry with this outbox key. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /** Performs one run: filters, mutator and handler. */
  run(entry: OutboxEntry, options: RunOptions): Promise<HandlerRun>;
  /**
   * Stores the outcome of an entry and removes it from the outbox. The entry of a dead letter is kept. Resolves when that is
   * durable.
   */
  done(outboxKey: string, key: string, notification: Notification, entry?: OutboxEntry): Promise<void>;
}

/**
 * Performs the runs of the outbox. Runs of one event key and handler happen in order, and so do the handlers of one
 * event while each ends soon (`KeyQueues`); other runs are concurrent. An entry stays in the outbox until its outcome
 * is stored, so a crash repeats runs and loses nothing. A handler that cannot be started because descriptors, processes
 * or memory are used up is tried again until it can. A run whose target cannot be reached is tried again for a time.
 */
export class Pipeline {
  /** Completed runs since the process started, by outcome. */
  readonly runs = { handled: 0, failed: 0 };
  readonly #ports: PipelinePorts;
  readonly #pending = new PendingRuns();
  readonly #keys: KeyQueues;
  readonly #scheduler: FairScheduler<PendingRun>;
  readonly #redelivery: Redelivery;
  readonly #settlement: Settlement;
  readonly #eventPacer = new EventPacer();
  /** Work that must finish before `stop` resolves. */
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abortController = new AbortController();
  #stopped = false;

  constructor(ports: PipelinePorts) {
    this.#ports = ports;
    this.#settlement = new Settlement({ ...ports, eventPacer: this.#eventPacer });
    const resume = (runs: readonly PendingRun[]): void => {
      this.#resume(runs);
    };
    this.#keys = new KeyQueues(ports.clock, resume, ports.patienceMs);
    this.#scheduler = new FairScheduler((handler) => this.#redelivery.limitOf(handler), ports.maxRunning);
    this.#redelivery = new Redelivery({
      ...ports,
      pending: this.#pending,
      track: (work) => {
        this.#track(work);
      },
      resume,
      resumeHandler: (handler) => {
        const hasRuns = this.#scheduler.resume(handler);
        this.#start();
        return hasRuns;
      },
      giveUp: (runs, reason) => {
        this.#settleUnrun(runs, { outcome: 'failed', reason, status: undefined });
      },
    });
    // Each running handler adds a listener.
    setMaxListeners(0, this.#abortController.signal);
  }

  /** Whether senders must pause. */
  get isFull(): boolean {
    return this.#pending.count >= MAX_WAITING || this.#pending.bytes >= MAX_WAITING_BYTES;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get waiting(): number {
    return this.#pending.count;
  }

  get outbox(): QueueStats {
    return { used: this.#pending.count, limit: MAX_WAITING };
  }

  get outboxBytes(): QueueStats {
    return { used: this.#pending.bytes, limit: MAX_WAITING_BYTES };
  }

  get running(): QueueStats {
    return this.#scheduler.running;
  }

  /** When an entry that waits to be tried again is due, Unix ms, and why its handler failed last. Undefined for others. */
  nextAttempt(outboxKey: string): NextAttempt | undefined {
    const run = this.#pending.get(outboxKey);
    return run && this.#redelivery.nextAttempt(run);
  }

  /** Schedules an entry that was added to the outbox. */
  add(entry: PendingNotification): void {
    const { clock } = this.#ports;
    const nowMs = clock.monotonicMs();
    const { outboxKey, key, namespace, handler, bytes, attempts = 0, firstAttemptAtMs, isUnfiltered = false } = entry;
    const sinceMs = firstAttemptAtMs === undefined ? undefined : Math.max(0, clock.nowMs() - firstAttemptAtMs);
    const run: PendingRun = {
      outboxKey,
      key,
      namespace,
      handler,
      bytes,
      attempts,
      isUnfiltered,
      addedMs: nowMs,
      retriedSinceMs: sinceMs === undefined ? undefined : nowMs - sinceMs,
      dueMs: 0,
      place: 'waits',
      isRunning: false,
      isSettled: false,
    };
    this.#pending.add(run);
    this.#schedule(this.#keys.add(run));
    this.#redelivery.makeRoom(run);
    this.#start();
  }

  /** Skips the waiting notifications of a deleted namespace. Running handlers continue. */
  dropNamespace(namespace: string): void {
    const scheduled = this.#scheduler.removeWaiting(namespace).filter(({ isSettled }) => !isSettled);
    const retrying = this.#redelivery.removeNamespace(namespace);
    const dropped = [...scheduled, ...retrying, ...this.#keys.removeNamespace(namespace)];
    if (dropped.length === 0) return;
    const fields = { namespace, notifications: dropped.length };
    this.#ports.log.warn(fields, 'skipping the notifications of a deleted namespace');
    this.#settleUnrun(dropped, { outcome: 'skipped', reason: NAMESPACE_DELETED, status: undefined });
  }

  /**
   * Resolves when the running handlers have finished or were aborted. Aborted and waiting entries stay in the outbox.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#keys.stop();
    this.#redelivery.stop();
    this.#settlement.stop();
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#abortController.abort(new Error('the backend stops'));
    });
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    cancel();
  }

  #schedule(run: PendingRun | undefined): void {
    if (run !== undefined) this.#scheduler.add(run);
  }

  #resume(runs: readonly PendingRun[]): void {
    for (const run of runs) this.#scheduler.add(run);
    this.#start();
  }

  #start(): void {
    while (!this.#stopped) {
      const run = this.#scheduler.next();
      if (run === undefined) return;
      if (run.isSettled) {
        this.#scheduler.finished(run);
        this.#schedule(this.#keys.ended(run));
      } else {
        run.isRunning = true;
        this.#track(this.#run(run));
      }
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((err: unknown) => {
        this.#ports.log.error(
          { err },
          'a run of the outbox ended with an internal error; its entry stays in the outbox',
        );
      })
      .finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  async #run(run: PendingRun): Promise<void> {
    let next: 'end' | 'postpone' | 'retry' = 'end';
    try {
      next = await this.#handle(run);
    } finally {
      run.isRunning = false;
      if (next === 'postpone') {
        this.#scheduler.postpone(run);
      } else {
        this.#scheduler.finished(run);
        this.#schedule(next === 'retry' ? this.#keys.setApart(run) : this.#ended(run));
      }
      this.#start();
    }
  }

  #ended(run: PendingRun): PendingRun | undefined {
    this.#pending.delete(run);
    this.#redelivery.forget(run);
    return this.#keys.ended(run);
  }

  async #handle(run: PendingRun): Promise<'end' | 'postpone' | 'retry'> {
    const { clock, entry: read } = this.#ports;
    await this.#eventPacer.admit(run.bytes);
    const entry = read(run.outboxKey);
    if (entry === undefined) return 'end';
    const startedMs = clock.monotonicMs();
    const level = this.#redelivery.levelOf(run);
    const hasPassedFilters = run.attempts > 0 && !run.isUnfiltered;
    const result = await this.#ports.run(entry, { hasPassedFilters, signal: this.#abortController.signal });
    // What has been handled is settled even during a stop: it would be handled again after the start.
    if (this.#abortController.signal.aborted && result.outcome !== 'handled') return 'end';
    if (result.outcome === 'not-started') {
      this.#redelivery.notStarted(run, result.reason);
      return 'postpone';
    }
    this.#redelivery.started(run);
    if (this.#redelivery.retries(run, result, level)) return 'retry';
    if (result.outcome === 'handled') this.runs.handled += 1;
    else if (result.outcome === 'failed' || result.outcome === 'timed-out') this.runs.failed += 1;
    await this.#settlement.settle(
      { ...run, attempts: run.attempts + 1 },
      entry,
      result,
      Math.round(clock.monotonicMs() - startedMs),
    );
    return 'end';
  }

  /** Ends runs that are not running with the same outcome. */
  #settleUnrun(runs: readonly PendingRun[], result: HandlerResult): void {
    if (runs.length === 0) return;
    for (const run of runs) run.isSettled = true;
    for (const run of runs) {
      this.#redelivery.forget(run);
      this.#schedule(this.#keys.ended(run));
    }
    this.#track(
      this.#settlement.settleUnrun(runs, result, (run) => {
        this.#pending.delete(run);
      }),
    );
  }
}
