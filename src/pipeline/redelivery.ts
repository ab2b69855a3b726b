import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Attempts } from '../store/records/records.ts';
import { DeliveryPolicy, type DeliveryPolicyPorts } from './delivery-policy.ts';
import type { ScheduledRun } from './fair-scheduler.ts';
import type { HandlerResult } from './handlers/handler-result.ts';
import { excessRun, expiredRuns, retriedSinceMs } from './held-runs.ts';
import { type Outage, Outages } from './outages.ts';
import type { PendingRun, PendingRuns } from './pending-runs.ts';
import { StartRetries } from './start-retries.ts';

export interface RedeliveryPorts extends DeliveryPolicyPorts {
  clock: Clock;
  log: Log;
  /** A number from 0 to 1. */
  random(): number;
  pending: PendingRuns;
  /** Stores how often an entry was tried, and when first. */
  attempted(outboxKey: string, attempts: Attempts): Promise<void>;
  /** Takes work that must finish before a stop. */
  track(work: Promise<void>): void;
  /** Takes runs whose next attempt is due, and starts what may run now. */
  resume(runs: readonly PendingRun[]): void;
  /** Lets a handler start again that could not be started. Returns whether it has anything to run. */
  resumeHandler(handler: ScheduledRun): boolean;
  /** Ends runs that are not running as dead letters. */
  giveUp(runs: readonly PendingRun[], reason: string): void;
}

/** The next attempt of a run. */
export interface NextAttempt {
  atMs: number;
  /** Why the last attempt of its handler failed. */
  reason: string;
}

/** Decides which failed runs are tried again, and when, and which are given up. */
export class Redelivery {
  readonly #ports: RedeliveryPorts;
  readonly #policy: DeliveryPolicy;
  readonly #outages: Outages;
  readonly #retries: StartRetries;
  #isStopped = false;

  constructor(ports: RedeliveryPorts) {
    this.#ports = ports;
    const { clock, random } = ports;
    this.#policy = new DeliveryPolicy(ports);
    this.#outages = new Outages({
      clock,
      random,
      resume: (runs) => {
        ports.resume(runs);
      },
      expire: (outage) => this.#expire(outage),
    });
    this.#retries = new StartRetries(clock, (handler) => ports.resumeHandler(handler));
  }

  /** How many runs of a handler may be active now. */
  limitOf(handler: ScheduledRun): number {
    return Math.min(this.#policy.maxParallel(handler), this.#outages.limitOf(handler) ?? Infinity);
  }

  /** Undefined for a run that does not wait for a further attempt. */
  nextAttempt(run: PendingRun): NextAttempt | undefined {
    const outage = this.#outages.of(run);
    if (outage?.retrying.has(run) !== true) return undefined;
    const { clock } = this.#ports;
    const atMs = Math.round(clock.nowMs() + Math.max(run.dueMs, outage.blockedUntilMs) - clock.monotonicMs());
    return { atMs, reason: outage.reason };
  }

  /** The failed attempts since the handler counts as unreachable; 0 before. */
  levelOf(handler: ScheduledRun): number {
    return this.#outages.of(handler)?.level ?? 0;
  }

  /** Delays the next attempt to start a handler. */
  notStarted({ namespace, handler }: PendingRun, reason: string): void {
    if (this.#isStopped) return;
    const delayMs = this.#retries.failed({ namespace, handler });
    if (delayMs === undefined) return;
    const fields = { namespace, handler, reason, retry_in_ms: delayMs };
    this.#ports.log.warn(fields, 'could not start a handler, its events stay in the outbox');
  }

  started(handler: ScheduledRun): void {
    this.#retries.started(handler);
  }

  /**
   * Takes the result of an attempt. Returns whether a later attempt follows, because its retry time is not over. `level` is that of
   * the handler when the attempt began.
   */
  retries(run: PendingRun, result: HandlerResult, level: number): boolean {
    if (this.#mayRetry(run, result)) {
      this.#retryLater(run, result, level);
      return true;
    }
    // The outcome of a run that did not use its handler says nothing about the target.
    if (result.outcome === 'handled' && this.#outages.succeeded(run)) {
      const { namespace, handler } = run;
      this.#ports.log.warn({ namespace, handler }, 'handler can be reached again');
    }
    return false;
  }

  /** Forgets a run that has ended. */
  forget(run: PendingRun): void {
    this.#outages.forget(run);
  }

  /** Gives up the oldest run of an unreachable handler if such handlers leave too little room for the others. */
  makeRoom(added: PendingRun): void {
    if (this.levelOf(added) === 0) return;
    const excess = excessRun(this.#outages.unreachable(), this.#ports.pending);
    if (excess !== undefined) this.#ports.giveUp([excess.run], excess.reason);
  }

  /** Removes and returns the runs of a namespace that wait for their next attempt. */
  removeNamespace(namespace: string): PendingRun[] {
    return this.#outages.removeNamespace(namespace);
  }

  stop(): void {
    this.#isStopped = true;
    this.#retries.stop();
    this.#outages.stop();
  }

  #mayRetry(run: PendingRun, result: HandlerResult): boolean {
    if (!this.#policy.mayRetry(run, result)) return false;
    const nowMs = this.#ports.clock.monotonicMs();
    const sinceMs = retriedSinceMs(run, this.#outages.of(run)) ?? nowMs;
    return nowMs - sinceMs < this.#policy.retryForMs(run);
  }

  /** During a stop, the run stays in the outbox for the next start. */
  #retryLater(run: PendingRun, { reason, isUnfiltered = false }: HandlerResult, level: number): void {
    const { clock, log, attempted, track } = this.#ports;
    const nowMs = clock.monotonicMs();
    run.attempts += 1;
    run.isUnfiltered = isUnfiltered;
    run.retriedSinceMs = retriedSinceMs(run, this.#outages.of(run)) ?? nowMs;
    run.isRunning = false;
    const delayMs = this.#isStopped ? undefined : this.#outages.failed(run, reason, level);
    const { namespace, handler, key, attempts, outboxKey } = run;
    const fields = { namespace, handler, event: key, reason, attempts, retry_in_ms: delayMs };
    log.warn(fields, 'event was not handled, its handler is tried again');
    const firstAttemptAtMs = clock.nowMs() - Math.round(nowMs - run.retriedSinceMs);
    track(
      attempted(outboxKey, { attempts, firstAttemptAtMs, ...(isUnfiltered && { isUnfiltered }) }).catch(
        (err: unknown) => {
          log.warn({ err, namespace, handler }, 'failed to store the attempts of a handler');
        },
      ),
    );
  }

  /** Gives up the runs of a handler whose retry time is over. Returns the monotonic time at which that of the next one is. */
  #expire(outage: Outage): number | undefined {
    const retryForMs = this.#policy.retryForMs(outage);
    const { runs } = this.#ports.pending.of(outage);
    const { expired, nextMs } = expiredRuns(outage, { runs, retryForMs, nowMs: this.#ports.clock.monotonicMs() });
    this.#ports.giveUp(expired, `not handled within ${retryForMs / 1_000} s: ${outage.reason}`);
    return nextMs;
  }
}
