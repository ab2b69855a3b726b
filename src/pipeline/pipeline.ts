import { setMaxListeners } from 'node:events';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import type { Attempts, Notification, OutboxEntry } from '../store/records.ts';
import { DeliveryPolicy, type DeliveryPolicyPorts } from './delivery-policy.ts';
import { FairScheduler } from './fair-scheduler.ts';
import type { HandlerResult, HandlerRun } from './handlers/handler-result.ts';
import { excessRun, expiredRuns, retriedSinceMs } from './held-runs.ts';
import { KeyQueues } from './key-queues.ts';
import { type Outage, Outages } from './outages.ts';
import { type PendingNotification, type PendingRun, PendingRuns } from './pending-runs.ts';
import { Settlement } from './settlement.ts';
import { StartRetries } from './start-retries.ts';
import { Turns } from './turns.ts';
import { NAMESPACE_DELETED, type RunOptions } from './workflow-run.ts';

/** Notifications that may wait. Past this number senders must pause. */
const MAX_WAITING = 100_000;
/** Size of their events. Past it senders must pause. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;
/** Time for running handlers during a stop. Later they are aborted, and run again after the next start. */
const STOP_GRACE_MS = 5_000;

export interface PipelinePorts extends DeliveryPolicyPorts {
  clock: Clock;
  log: Log;
  /** Handlers that run concurrently; 100 by default. */
  maxRunning?: number | undefined;
  /** A number from 0 to 1. */
  random(): number;
  /** The entry with this outbox key. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /** Does one run: filters, mutator and handler. */
  run(entry: OutboxEntry, options: RunOptions): Promise<HandlerRun>;
  /** Stores how often an entry was tried, and when first. */
  attempted(outboxKey: string, attempts: Attempts): Promise<void>;
  /**
   * Stores the outcome of an entry and removes it from the outbox. The entry of a dead letter is kept. Resolves when that is
   * durable.
   */
  done(outboxKey: string, key: string, notification: Notification, entry?: OutboxEntry): Promise<void>;
}

/** The next attempt of a run. */
export interface NextAttempt {
  atMs: number;
  /** Why the last attempt of its handler failed. */
  reason: string;
}

/**
 * Does the runs of the outbox. Runs of one event key go in order, others concurrently. An entry stays in the outbox until its
 * outcome is stored, so a crash repeats runs and loses nothing. A handler that cannot be started for want of descriptors, processes
 * or memory is tried again until it can. A run whose target cannot be reached is tried again for a time; runs of other handlers go
 * on meanwhile, and later ones of the same key and handler wait behind it.
 */
export class Pipeline {
  /** Completed runs since the process started, by outcome. */
  readonly runs = { handled: 0, failed: 0 };
  readonly #ports: PipelinePorts;
  readonly #pending = new PendingRuns();
  readonly #keys = new KeyQueues();
  readonly #scheduler: FairScheduler<PendingRun>;
  readonly #outages: Outages;
  readonly #policy: DeliveryPolicy;
  readonly #settlement: Settlement;
  readonly #turns = new Turns();
  /** Work that must finish before `stop` resolves. */
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abortController = new AbortController();
  readonly #retries: StartRetries;
  #stopped = false;

  constructor(ports: PipelinePorts) {
    this.#ports = ports;
    const { clock, random } = ports;
    this.#policy = new DeliveryPolicy(ports);
    this.#settlement = new Settlement({ ...ports, turns: this.#turns });
    this.#scheduler = new FairScheduler(
      (handler) => Math.min(this.#policy.maxParallel(handler), this.#outages.limitOf(handler) ?? Infinity),
      ports.maxRunning,
    );
    this.#outages = new Outages({
      clock,
      random,
      resume: (runs) => {
        for (const run of runs) this.#scheduler.add(run);
        this.#start();
      },
      expire: (outage) => this.#expire(outage),
    });
    this.#retries = new StartRetries(clock, (handler) => {
      const hasRuns = this.#scheduler.resume(handler);
      this.#start();
      return hasRuns;
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
    const outage = run && this.#outages.of(run);
    if (run === undefined || outage?.retrying.has(run) !== true) return undefined;
    const { clock } = this.#ports;
    const atMs = Math.round(clock.nowMs() + Math.max(run.dueMs, outage.blockedUntilMs) - clock.monotonicMs());
    return { atMs, reason: outage.reason };
  }

  /** Schedules an entry that was added to the outbox. */
  add(entry: PendingNotification): void {
    const { clock } = this.#ports;
    const nowMs = clock.monotonicMs();
    const { outboxKey, key, namespace, handler, bytes, attempts = 0, firstAttemptAtMs } = entry;
    const sinceMs = firstAttemptAtMs === undefined ? undefined : Math.max(0, clock.nowMs() - firstAttemptAtMs);
    const run: PendingRun = {
      outboxKey,
      key,
      namespace,
      handler,
      bytes,
      attempts,
      addedMs: nowMs,
      retriedSinceMs: sinceMs === undefined ? undefined : nowMs - sinceMs,
      dueMs: 0,
      occupiesKey: false,
      holdsHandler: false,
      isRunning: false,
      isSettled: false,
    };
    this.#pending.add(run);
    this.#schedule(this.#keys.add(run));
    this.#makeRoom(run);
    this.#start();
  }

  /** Skips the waiting notifications of a deleted namespace. Running handlers continue. */
  dropNamespace(namespace: string): void {
    const scheduled = this.#scheduler.removeWaiting(namespace).filter(({ isSettled }) => !isSettled);
    const retrying = this.#outages.removeNamespace(namespace);
    const dropped = [...scheduled, ...retrying, ...this.#keys.removeNamespace(namespace, [...scheduled, ...retrying])];
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
    this.#retries.stop();
    this.#outages.stop();
    this.#settlement.stop();
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#abortController.abort(new Error('the backend stops'));
    });
    await Promise.all(this.#inFlight);
    cancel();
  }

  #schedule(run: PendingRun | undefined): void {
    if (run !== undefined) this.#scheduler.add(run);
  }

  #start(): void {
    while (!this.#stopped) {
      const run = this.#scheduler.next();
      if (run === undefined) return;
      if (run.isSettled) {
        this.#scheduler.finished(run);
        this.#schedule(this.#keys.release(run));
      } else {
        run.isRunning = true;
        this.#track(this.#run(run));
      }
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
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
        this.#schedule(next === 'retry' ? this.#keys.hold(run) : this.#ended(run));
      }
      this.#start();
    }
  }

  #ended(run: PendingRun): PendingRun | undefined {
    this.#pending.delete(run);
    this.#outages.forget(run);
    return this.#keys.release(run);
  }

  async #handle(run: PendingRun): Promise<'end' | 'postpone' | 'retry'> {
    const { clock, entry: read } = this.#ports;
    await this.#turns.take(run.bytes);
    const entry = read(run.outboxKey);
    if (entry === undefined) return 'end';
    const startedMs = clock.monotonicMs();
    const level = this.#outages.of(run)?.level ?? 0;
    const isRetry = run.attempts > 0;
    const result = await this.#ports.run(entry, { isRetry, signal: this.#abortController.signal });
    if (this.#abortController.signal.aborted) return 'end';
    if (result.outcome === 'not-started') {
      this.#tryAgain(run, result.reason);
      return 'postpone';
    }
    this.#retries.started(run);
    if (this.#isRetried(run, result)) {
      this.#retryLater(run, result, level);
      return 'retry';
    }
    this.#reached(run, result);
    await this.#settlement.settle(
      { ...run, attempts: run.attempts + 1 },
      entry,
      result,
      Math.round(clock.monotonicMs() - startedMs),
    );
    return 'end';
  }

  /** Whether a later attempt of the run follows, because its retry time is not over. */
  #isRetried(run: PendingRun, result: HandlerResult): boolean {
    if (this.#stopped || !this.#policy.mayRetry(run, result)) return false;
    const nowMs = this.#ports.clock.monotonicMs();
    const sinceMs = retriedSinceMs(run, this.#outages.of(run)) ?? nowMs;
    return nowMs - sinceMs < this.#policy.retryForMs(run);
  }

  #retryLater(run: PendingRun, { reason }: HandlerResult, level: number): void {
    const { clock, log, attempted } = this.#ports;
    const nowMs = clock.monotonicMs();
    run.attempts += 1;
    run.retriedSinceMs = retriedSinceMs(run, this.#outages.of(run)) ?? nowMs;
    run.isRunning = false;
    const delayMs = this.#outages.failed(run, reason, level);
    const { namespace, handler, key, attempts, outboxKey } = run;
    const fields = { namespace, handler, event: key, reason, attempts, retry_in_ms: delayMs };
    log.warn(fields, 'event was not handled, its handler is tried again');
    const firstAttemptAtMs = clock.nowMs() - Math.round(nowMs - run.retriedSinceMs);
    this.#track(
      attempted(outboxKey, { attempts, firstAttemptAtMs }).catch((err: unknown) => {
        log.warn({ err, namespace, handler }, 'failed to store the attempts of a handler');
      }),
    );
  }

  /** Notes that the target was reached. The outcome of a run that did not use its handler says nothing about that. */
  #reached(run: PendingRun, { outcome }: HandlerResult): void {
    if (outcome === 'handled') this.runs.handled += 1;
    else if (outcome === 'failed' || outcome === 'timed-out') this.runs.failed += 1;
    if (outcome !== 'handled' || !this.#outages.succeeded(run)) return;
    const { namespace, handler } = run;
    this.#ports.log.warn({ namespace, handler }, 'handler can be reached again');
  }

  #tryAgain({ namespace, handler }: PendingRun, reason: string): void {
    if (this.#stopped) return;
    const delayMs = this.#retries.failed({ namespace, handler });
    if (delayMs === undefined) return;
    const fields = { namespace, handler, reason, retry_in_ms: delayMs };
    this.#ports.log.warn(fields, 'could not start a handler, its events stay in the outbox');
  }

  /** Ends the runs of a handler whose retry time is over. Returns the monotonic time at which the next one ends. */
  #expire(outage: Outage): number | undefined {
    const retryForMs = this.#policy.retryForMs(outage);
    const { runs } = this.#pending.of(outage);
    const { expired, nextMs } = expiredRuns(outage, { runs, retryForMs, nowMs: this.#ports.clock.monotonicMs() });
    const reason = `not handled within ${retryForMs / 1_000} s: ${outage.reason}`;
    this.#settleUnrun(expired, { outcome: 'failed', reason, status: undefined });
    return nextMs;
  }

  /** Ends the oldest run of an unreachable handler if such handlers leave too little room for the others. */
  #makeRoom(added: PendingRun): void {
    if ((this.#outages.of(added)?.level ?? 0) === 0) return;
    const excess = excessRun(this.#outages.unreachable(), this.#pending);
    if (excess === undefined) return;
    this.#settleUnrun([excess.run], { outcome: 'failed', reason: excess.reason, status: undefined });
  }

  /** Ends runs that are not running with the same outcome. */
  #settleUnrun(runs: readonly PendingRun[], result: HandlerResult): void {
    if (runs.length === 0) return;
    for (const run of runs) run.isSettled = true;
    for (const run of runs) {
      this.#outages.forget(run);
      if (run.holdsHandler) this.#schedule(this.#keys.release(run));
    }
    this.#track(
      this.#settlement.settleUnrun(runs, result, (run) => {
        this.#pending.delete(run);
      }),
    );
  }
}
