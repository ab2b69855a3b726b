import { Fifo } from './fifo.ts';
import type { PendingRun } from './pending-runs.ts';

interface KeyQueue {
  /** Whether a run of the key is scheduled or running, apart from those that are tried again. */
  isBusy: boolean;
  /** Empty while the key is not busy. Undefined until a run waits, as most keys have one run at a time. */
  waiting: Fifo<PendingRun> | undefined;
  /** By handler whose earlier run of the key is tried again: the later ones, which wait for it. */
  held: Map<string, Fifo<PendingRun>> | undefined;
}

/**
 * Orders the runs of each event key. They are scheduled one after the other; a run that waits for its next attempt lets the runs of
 * other handlers go on, and holds those of its own handler.
 */
export class KeyQueues {
  readonly #queues = new Map<string, KeyQueue>();

  /** Returns the run if it may be scheduled at once. */
  add(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    if (queue === undefined) {
      run.occupiesKey = true;
      this.#queues.set(run.key, { isBusy: true, waiting: undefined, held: undefined });
      return run;
    }
    queue.waiting ??= new Fifo();
    queue.waiting.push(run);
    return queue.isBusy ? undefined : this.#next(run.key, queue);
  }

  /** Ends a run. Returns the run to schedule next, if any. */
  finished(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    if (queue === undefined) return undefined;
    if (run.occupiesKey) queue.isBusy = false;
    run.occupiesKey = false;
    return queue.isBusy ? undefined : this.#next(run.key, queue);
  }

  /** Lets the runs of other handlers go on while this run waits for its next attempt. Returns the run to schedule next, if any. */
  hold(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    if (queue !== undefined && !run.holdsHandler) {
      queue.held ??= new Map();
      queue.held.set(run.handler, new Fifo());
    }
    run.holdsHandler = queue !== undefined;
    return this.finished(run);
  }

  /** Ends a run. If it was tried again, the later runs of its handler are next. Returns the run to schedule next, if any. */
  release(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    const held = run.holdsHandler ? queue?.held?.get(run.handler) : undefined;
    run.holdsHandler = false;
    if (queue === undefined || held === undefined) return this.finished(run);
    queue.held?.delete(run.handler);
    queue.waiting ??= new Fifo();
    for (const later of [...held.drain()].reverse()) queue.waiting.unshift(later);
    return this.finished(run);
  }

  /** Removes and returns the runs of a namespace that wait, and ends `scheduled`, which no longer run. */
  removeNamespace(namespace: string, scheduled: Iterable<PendingRun>): PendingRun[] {
    for (const run of scheduled) {
      const queue = this.#queues.get(run.key);
      if (queue !== undefined && run.occupiesKey) queue.isBusy = false;
    }
    const removed: PendingRun[] = [];
    for (const [key, { isBusy, waiting, held }] of this.#queues) {
      if (!key.startsWith(`${namespace}/`)) continue;
      for (const queue of [waiting, ...(held?.values() ?? [])]) removed.push(...(queue?.drain() ?? []));
      held?.clear();
      if (!isBusy) this.#queues.delete(key);
    }
    return removed.filter(({ isSettled }) => !isSettled);
  }

  #next(key: string, queue: KeyQueue): PendingRun | undefined {
    for (let run = queue.waiting?.shift(); run !== undefined; run = queue.waiting?.shift()) {
      if (run.isSettled) continue;
      const held = queue.held?.get(run.handler);
      if (held === undefined) {
        queue.isBusy = true;
        run.occupiesKey = true;
        return run;
      }
      held.push(run);
    }
    if ((queue.held?.size ?? 0) === 0) this.#queues.delete(key);
    return undefined;
  }
}
