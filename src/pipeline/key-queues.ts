import type { Clock } from '../ports/clock.ts';
import { Fifo } from './fifo.ts';
import type { PendingRun } from './pending-runs.ts';

/** The longest time for which a run waits for earlier runs of its key that have other handlers, unless configured. */
export const DEFAULT_PATIENCE_MS = 2_000;

interface KeyQueue {
  /** The run that the waiting ones wait for. While there is none, none waits. */
  leader: PendingRun | undefined;
  /** Empty without a leader. Undefined until a run waits, as most keys have one run at a time. */
  waiting: Fifo<PendingRun> | undefined;
  /** The later runs that wait, by the handler that has a run apart from the others. */
  held: Map<string, Fifo<PendingRun>> | undefined;
}

/**
 * Orders the runs of each event key. Runs of one handler go strictly one after the other. Those of different handlers do so too
 * while each ends soon: a run waits for earlier ones of other handlers for two seconds. After that, or when a run is to be tried
 * again, it runs apart from the others.
 */
export class KeyQueues {
  readonly #queues = new Map<string, KeyQueue>();
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #resume: (runs: readonly PendingRun[]) => void;
  /** Runs that began to wait, in the order in which their waiting time ends. */
  readonly #impatient = new Fifo<PendingRun>();
  #cancel: (() => void) | undefined;
  #isStopped = false;

  /** `resume` takes runs that need not wait any longer. */
  constructor(clock: Clock, resume: (runs: readonly PendingRun[]) => void, patienceMs = DEFAULT_PATIENCE_MS) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#resume = resume;
  }

  /** Returns the run if it may be scheduled at once. */
  add(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    if (queue === undefined) {
      run.place = 'leads';
      this.#queues.set(run.key, { leader: run, waiting: undefined, held: undefined });
      return run;
    }
    run.place = 'waits';
    queue.waiting ??= new Fifo();
    queue.waiting.push(run);
    if (queue.leader === undefined) return this.#next(run.key, queue);
    this.#impatient.push(run);
    this.#arm();
    return undefined;
  }

  /** Lets the runs of other handlers continue before this one has ended. Returns the run to schedule next, if any. */
  setApart(run: PendingRun): PendingRun | undefined {
    const queue = this.#queues.get(run.key);
    if (queue === undefined || run.place !== 'leads') return undefined;
    run.place = 'apart';
    queue.leader = undefined;
    queue.held ??= new Map();
    queue.held.set(run.handler, new Fifo());
    return this.#next(run.key, queue);
  }

  /** Ends a run that does not wait behind others. Returns the run to schedule next, if any. */
  ended(run: PendingRun): PendingRun | undefined {
    const { place, key } = run;
    const queue = this.#queues.get(key);
    if (queue === undefined || (place !== 'leads' && place !== 'apart')) return undefined;
    run.place = 'ended';
    if (place === 'apart') return this.#nextOfHandler(run, queue);
    queue.leader = undefined;
    return this.#next(key, queue);
  }

  /** Removes and returns the runs of a namespace that wait behind others. */
  removeNamespace(namespace: string): PendingRun[] {
    const removed: PendingRun[] = [];
    for (const [key, { waiting, held }] of this.#queues) {
      if (!key.startsWith(`${namespace}/`)) continue;
      for (const queue of [waiting, ...(held?.values() ?? [])]) removed.push(...(queue?.drain() ?? []));
    }
    for (const run of removed) run.place = 'ended';
    return removed.filter(({ isSettled }) => !isSettled);
  }

  /** No run is resumed any more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #next(key: string, queue: KeyQueue): PendingRun | undefined {
    for (let run = queue.waiting?.shift(); run !== undefined; run = queue.waiting?.shift()) {
      if (run.isSettled) continue;
      const held = queue.held?.get(run.handler);
      if (held === undefined) {
        run.place = 'leads';
        queue.leader = run;
        return run;
      }
      run.place = 'held';
      held.push(run);
    }
    if ((queue.held?.size ?? 0) === 0) this.#queues.delete(key);
    return undefined;
  }

  /** The next run of a handler that runs apart. Without one, its later runs wait like others again. */
  #nextOfHandler({ key, handler }: PendingRun, queue: KeyQueue): PendingRun | undefined {
    const held = queue.held?.get(handler);
    for (let run = held?.shift(); run !== undefined; run = held?.shift()) {
      if (run.isSettled) continue;
      run.place = 'apart';
      return run;
    }
    queue.held?.delete(handler);
    if (queue.leader === undefined && queue.held?.size === 0) this.#queues.delete(key);
    return undefined;
  }

  #arm(): void {
    const first = this.#impatient.first;
    if (this.#isStopped || this.#cancel !== undefined || first === undefined) return;
    const delayMs = first.addedMs + this.#patienceMs - this.#clock.monotonicMs();
    this.#cancel = this.#clock.after(Math.max(1, delayMs), () => {
      this.#cancel = undefined;
      this.#resumeOverdue();
      this.#arm();
    });
  }

  #resumeOverdue(): void {
    const nowMs = this.#clock.monotonicMs();
    const resumed: PendingRun[] = [];
    for (let run = this.#impatient.first; run !== undefined; run = this.#impatient.first) {
      if (run.place === 'waits' && !run.isSettled) {
        if (run.addedMs + this.#patienceMs > nowMs) break;
        this.#overtake(run, resumed);
      }
      this.#impatient.shift();
    }
    if (resumed.length > 0) this.#resume(resumed);
  }

  /** Sets the leaders of its key apart until the run waits for none. */
  #overtake(run: PendingRun, resumed: PendingRun[]): void {
    while (run.place === 'waits') {
      const leader = this.#queues.get(run.key)?.leader;
      if (leader === undefined) throw new Error(`a run of ${run.key} waits, but no other run leads`);
      const next = this.setApart(leader);
      if (next !== undefined) resumed.push(next);
    }
  }
}
