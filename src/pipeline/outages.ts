import type { Clock } from '../ports/clock.ts';
import { handlerId, type ScheduledRun } from './fair-scheduler.ts';
import type { PendingRun } from './pending-runs.ts';

/** The delay before the second attempt of a run, and between attempts of a handler that is unreachable. It doubles with each attempt. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** The share of a delay by which it varies at random, so that handlers with one target do not try at the same time. */
const JITTER = 0.25;
/** A handler with this many consecutive failures counts as unreachable, and is tried with one run at a time. */
const MAX_FAILURES = 3;

export interface OutagePorts {
  clock: Clock;
  /** A number from 0 to 1. */
  random(): number;
  /** Takes runs whose next attempt is due, and handlers that may run again. */
  resume(runs: readonly PendingRun[]): void;
  /** Ends the runs of a handler whose retry time is over. Returns the monotonic time at which the next one ends. */
  expire(outage: Outage): number | undefined;
}

/** A handler whose last attempts failed. */
export interface Outage extends ScheduledRun {
  /** Monotonic time at which it became unreachable. */
  unreachableSinceMs: number;
  /** Why the last attempt failed. */
  reason: string;
  /** Attempts that failed in a row. */
  failures: number;
  /** Failed attempts since the handler counts as unreachable; 0 before. */
  level: number;
  /** No run of it starts before this monotonic time, ms. */
  blockedUntilMs: number;
  /** The runs that wait for their next attempt. */
  retrying: Set<PendingRun>;
  /** The run with which an unreachable handler is tried. */
  probe: PendingRun | undefined;
  cancel: () => void;
}

/**
 * Delays the next attempts of runs that failed, and those of handlers that are unreachable. A handler that failed three times in a
 * row runs with one event at a time, at growing intervals, until one attempt succeeds; then all its runs are tried at once.
 */
export class Outages {
  readonly #ports: OutagePorts;
  readonly #outages = new Map<string, Outage>();

  constructor(ports: OutagePorts) {
    this.#ports = ports;
  }

  /** How many runs of a handler may be active, if it is unreachable. */
  limitOf(handler: ScheduledRun): number | undefined {
    const outage = this.#outages.get(handlerId(handler));
    if (outage === undefined || outage.level === 0) return undefined;
    return this.#ports.clock.monotonicMs() < outage.blockedUntilMs ? 0 : 1;
  }

  /** The handlers that count as unreachable. */
  *unreachable(): Iterable<Outage> {
    for (const outage of this.#outages.values()) if (outage.level > 0) yield outage;
  }

  of(handler: ScheduledRun): Outage | undefined {
    return this.#outages.get(handlerId(handler));
  }

  /**
   * Delays the next attempt of a run. `level` is that of the handler when the attempt began: attempts that began together count
   * once. Returns the delay, ms.
   */
  failed(run: PendingRun, reason: string, level: number): number {
    const id = handlerId(run);
    const nowMs = this.#ports.clock.monotonicMs();
    let outage = this.#outages.get(id);
    if (outage === undefined) {
      outage = newOutage(run);
      this.#outages.set(id, outage);
    }
    outage.reason = reason;
    outage.failures += 1;
    if (outage.probe === run) outage.probe = undefined;
    if (outage.failures >= MAX_FAILURES && outage.level === level) {
      if (level === 0) outage.unreachableSinceMs = nowMs;
      outage.level += 1;
      outage.blockedUntilMs = nowMs + this.#delayMs(outage.level);
    }
    const delayMs = this.#delayMs(run.attempts);
    run.dueMs = nowMs + delayMs;
    outage.retrying.add(run);
    this.#arm(outage);
    return delayMs;
  }

  /** Notes an attempt that did not fail. A handler that was unreachable gets all its runs at once. Returns whether it was. */
  succeeded(handler: ScheduledRun): boolean {
    const outage = this.#outages.get(handlerId(handler));
    if (outage === undefined) return false;
    outage.failures = 0;
    const wasUnreachable = outage.level > 0;
    if (wasUnreachable || outage.retrying.size === 0) this.#end(outage);
    if (wasUnreachable) this.#ports.resume([...outage.retrying]);
    return wasUnreachable;
  }

  /** Forgets a run that has ended. */
  forget(run: PendingRun): void {
    const outage = this.#outages.get(handlerId(run));
    if (outage === undefined) return;
    outage.retrying.delete(run);
    if (outage.probe !== run) return;
    outage.probe = undefined;
    if (!run.isSettled) this.#arm(outage);
  }

  /** Removes and returns the runs of a namespace that wait for their next attempt. */
  removeNamespace(namespace: string): PendingRun[] {
    const removed: PendingRun[] = [];
    for (const outage of this.#outages.values()) {
      if (outage.namespace !== namespace) continue;
      this.#end(outage);
      removed.push(...outage.retrying);
    }
    return removed;
  }

  stop(): void {
    for (const outage of this.#outages.values()) outage.cancel();
    this.#outages.clear();
  }

  #end(outage: Outage): void {
    outage.cancel();
    this.#outages.delete(handlerId(outage));
  }

  #delayMs(attempts: number): number {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), LONGEST_DELAY_MS);
    return Math.round(delayMs * (1 - JITTER + 2 * JITTER * this.#ports.random()));
  }

  #tick(outage: Outage): void {
    if (this.#outages.get(handlerId(outage)) !== outage) return;
    const nowMs = this.#ports.clock.monotonicMs();
    const due = nowMs < outage.blockedUntilMs ? [] : [...outage.retrying].filter(({ dueMs }) => dueMs <= nowMs);
    const tried = outage.level === 0 ? due : outage.probe === undefined ? due.slice(0, 1) : [];
    for (const run of tried) outage.retrying.delete(run);
    if (outage.level > 0) outage.probe ??= tried[0];
    this.#arm(outage);
    this.#ports.resume(tried);
  }

  /** Ends the runs whose time is over, and arms the timer for what is due next. A probe that runs decides what follows it. */
  #arm(outage: Outage): void {
    outage.cancel();
    const expiryMs = this.#ports.expire(outage);
    const nowMs = this.#ports.clock.monotonicMs();
    const isBlocked = outage.blockedUntilMs > nowMs;
    let nextMs = Math.min(expiryMs ?? Infinity, isBlocked ? outage.blockedUntilMs : Infinity);
    if (!isBlocked && outage.probe === undefined) {
      for (const { dueMs } of outage.retrying) nextMs = Math.min(nextMs, dueMs);
    }
    if (nextMs === Infinity) {
      if (outage.probe === undefined) this.#end(outage);
      return;
    }
    outage.cancel = this.#ports.clock.after(Math.max(1, nextMs - nowMs), () => {
      this.#tick(outage);
    });
  }
}

const newOutage = ({ namespace, handler }: ScheduledRun): Outage => ({
  namespace,
  handler,
  unreachableSinceMs: 0,
  reason: '',
  failures: 0,
  level: 0,
  blockedUntilMs: 0,
  retrying: new Set(),
  probe: undefined,
  cancel: () => undefined,
});
