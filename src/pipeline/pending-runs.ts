import { handlerId, type ScheduledRun } from './fair-scheduler.ts';

/** The properties of an outbox entry that are known without reading its event. */
export interface PendingNotification extends ScheduledRun {
  outboxKey: string;
  /** Key of the event. Entries with the same key and handler run in order. */
  key: string;
  /** Size of the event. */
  bytes: number;
  /** Attempts that have failed. */
  attempts?: number | undefined;
  /** Wall clock time of the first attempt that failed. */
  firstAttemptAtMs?: number | undefined;
  /** Whether the last attempt ended before the filters had passed. */
  isUnfiltered?: boolean | undefined;
}

/**
 * The place of a run among those of its event key (`key-queues.ts`): it `waits` for the runs before it, is `held`
 * behind an earlier one of its handler, may run while the others wait (`leads`), may run while they continue (`apart`),
 * or has `ended`.
 */
export type Place = 'waits' | 'held' | 'leads' | 'apart' | 'ended';

/** A run that waits, runs, or waits for its next attempt. */
export interface PendingRun extends PendingNotification {
  attempts: number;
  isUnfiltered: boolean;
  /** Monotonic time at which it was added. */
  addedMs: number;
  /** Monotonic time from which its retry time counts; undefined before its first attempt. */
  retriedSinceMs: number | undefined;
  /** Monotonic time of its next attempt. */
  dueMs: number;
  place: Place;
  /** Whether it uses a slot of the scheduler. */
  isRunning: boolean;
  /** Its outcome is being stored, so that it must not run any more. */
  isSettled: boolean;
}

interface OfHandler {
  runs: Set<PendingRun>;
  bytes: number;
}

/** All pending runs by handler, in the order in which they were added. */
export class PendingRuns {
  readonly #handlers = new Map<string, OfHandler>();
  readonly #byOutboxKey = new Map<string, PendingRun>();
  #bytes = 0;

  get count(): number {
    return this.#byOutboxKey.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(outboxKey: string): PendingRun | undefined {
    return this.#byOutboxKey.get(outboxKey);
  }

  add(run: PendingRun): void {
    const id = handlerId(run);
    let of = this.#handlers.get(id);
    if (of === undefined) this.#handlers.set(id, (of = { runs: new Set(), bytes: 0 }));
    of.runs.add(run);
    of.bytes += run.bytes;
    this.#byOutboxKey.set(run.outboxKey, run);
    this.#bytes += run.bytes;
  }

  delete(run: PendingRun): void {
    const id = handlerId(run);
    const of = this.#handlers.get(id);
    if (of?.runs.delete(run) !== true) return;
    of.bytes -= run.bytes;
    if (of.runs.size === 0) this.#handlers.delete(id);
    this.#byOutboxKey.delete(run.outboxKey);
    this.#bytes -= run.bytes;
  }

  of(handler: ScheduledRun): { runs: Iterable<PendingRun>; count: number; bytes: number } {
    const of = this.#handlers.get(handlerId(handler));
    return { runs: of?.runs ?? [], count: of?.runs.size ?? 0, bytes: of?.bytes ?? 0 };
  }
}
