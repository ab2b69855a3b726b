import type { QueueStats } from '../ports/queue-stats.ts';
import { Fifo } from './fifo.ts';

/** Handlers that run concurrently, unless the configuration has another number. */
export const DEFAULT_RUNNING = 100;
/** Concurrent runs of one handler that does not set its own limit, so that a handler that hangs leaves capacity for others. */
export const MAX_RUNNING_OF_HANDLER = 25;

/** A run of one handler in a namespace. */
export interface ScheduledRun {
  namespace: string;
  handler: string;
}

interface Lane<W> extends ScheduledRun {
  waiting: Fifo<W>;
  running: number;
  /** Runs that could not be started, in order. While there are any, no run of the handler starts. */
  postponed: W[];
}

/**
 * Selects the next run. Handlers alternate, and each may use less capacity the less is free, so that several handlers
 * that hang still leave some for the others.
 */
export class FairScheduler<W extends ScheduledRun> {
  /** Handlers with waiting or active runs. The one that started last is at the end. */
  readonly #lanes = new Map<string, Lane<W>>();
  readonly #maxRunning: number;
  readonly #limitOf: (handler: ScheduledRun) => number;
  #running = 0;

  /** `limitOf` returns how many runs of a handler may be active now. `maxRunning` bounds those of all handlers. */
  constructor(limitOf: (handler: ScheduledRun) => number = () => MAX_RUNNING_OF_HANDLER, maxRunning = DEFAULT_RUNNING) {
    this.#limitOf = limitOf;
    this.#maxRunning = maxRunning;
  }

  get running(): QueueStats {
    return { used: this.#running, limit: this.#maxRunning };
  }

  add(run: W): void {
    const id = handlerId(run);
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = { namespace: run.namespace, handler: run.handler, waiting: new Fifo(), running: 0, postponed: [] };
      this.#lanes.set(id, lane);
    }
    lane.waiting.push(run);
  }

  /** The run to start now, if any. It occupies capacity until `finished` is called. */
  next(): W | undefined {
    for (const [id, lane] of this.#lanes) {
      if (lane.postponed.length > 0 || lane.waiting.isEmpty || !this.#hasCapacity(lane)) continue;
      this.#lanes.delete(id);
      this.#lanes.set(id, lane);
      lane.running += 1;
      this.#running += 1;
      return lane.waiting.shift();
    }
    return undefined;
  }

  finished(run: W): void {
    const lane = this.#runningLane(run);
    lane.running -= 1;
    this.#running -= 1;
    this.#deleteIdle(handlerId(run), lane);
  }

  #runningLane(run: W): Lane<W> {
    const id = handlerId(run);
    const lane = this.#lanes.get(id);
    if (lane === undefined) throw new Error(`nothing of ${id} runs`);
    return lane;
  }

  /** Puts back a run that could not be started. No run of its handler starts until `resume`. */
  postpone(run: W): void {
    this.#runningLane(run).postponed.push(run);
    this.finished(run);
  }

  /** Lets the runs of a handler start again, the postponed ones first. Returns whether there are any. */
  resume(run: ScheduledRun): boolean {
    const lane = this.#lanes.get(handlerId(run));
    if (lane === undefined) return false;
    for (const postponed of lane.postponed.splice(0).reverse()) lane.waiting.unshift(postponed);
    return true;
  }

  /** Removes and returns the waiting and the postponed runs of a namespace. */
  removeWaiting(namespace: string): W[] {
    const removed: W[] = [];
    for (const [id, lane] of this.#lanes) {
      if (lane.namespace !== namespace) continue;
      removed.push(...lane.postponed.splice(0), ...lane.waiting.drain());
      this.#deleteIdle(id, lane);
    }
    return removed;
  }

  /** The first run of a handler may use the last slot. Each further run requires twice as many free slots. */
  #hasCapacity(lane: Lane<W>): boolean {
    return 2 * lane.running < this.#maxRunning - this.#running && lane.running < this.#limitOf(lane);
  }

  #deleteIdle(id: string, { waiting, running, postponed }: Lane<W>): void {
    if (waiting.isEmpty && running === 0 && postponed.length === 0) this.#lanes.delete(id);
  }
}

/** The name of a handler with its namespace. */
export const handlerId = ({ namespace, handler }: ScheduledRun): string => `${namespace}/${handler}`;
