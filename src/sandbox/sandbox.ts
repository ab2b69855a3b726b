import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded } from '../resources/errors.ts';
import { FairQueue, type TaskOwner } from './fair-queue.ts';
import type { EvaluationResult, PredicateTask, TaskSlice, WorkerMessage } from './messages.ts';

/** The compiled worker, also when running from source, because worker threads do not inherit the loader. */
const WORKER = new URL('../../dist/sandbox/worker.js', import.meta.url);
const DEFAULT_WORKERS = 2;
const MAX_WAITING_TASKS = 1_000;
/** After this time a task lets the tasks of others go first. */
const SLICE_MS = 100;
/** The time for which a namespace is restricted after one of its programs was stopped. */
const RESTRICTED_MS = 60_000;
/** Beyond this number of restricted namespaces, the restriction of the one that was restricted first ends early. */
const MAX_REMEMBERED_NAMESPACES = 1_000;
/**
 * Programs are interrupted at their limit. A thread that does not respond this long after the limit is terminated. On a
 * busy machine a thread may not be scheduled for some tenths of a second.
 */
const WATCHDOG_GRACE_MS = 1_000;
const START_LIMIT_MS = 10_000;
/** After this many values that exceeded a limit, the remaining values of a task are not tried. */
const MAX_STOPPED_VALUES = 3;
const MAX_HEAP_MB = 64;

export interface SandboxPorts {
  /** The real clock, which measures the threads. */
  clock: Clock;
  log: Log;
  workers?: number;
  /** Defaults to the compiled worker. */
  worker?: URL;
}

interface Job {
  task: PredicateTask;
  owner: TaskOwner;
  results: EvaluationResult[];
  stopped: number;
  /** Index of the value that is retried after its thread ended, which on a busy machine may happen to any value. */
  retried: number | undefined;
  resolve(results: EvaluationResult[]): void;
  reject(error: Error): void;
}

interface Slot {
  worker: Worker;
  isReady: boolean;
  job: Job | undefined;
  cancelWatchdog: () => void;
}

/**
 * Runs users' JavaScript in worker threads, one value at a time with a time limit. A misbehaving program affects only
 * its own value, or its thread, which is replaced. Namespaces take turns, and those whose programs were stopped leave
 * one thread to the others.
 */
export class Sandbox {
  readonly #ports: SandboxPorts;
  readonly #maxWorkers: number;
  readonly #slots = new Set<Slot>();
  readonly #waiting = new FairQueue<Job>();
  /** When the programs of a namespace were stopped last, monotonic ms. */
  readonly #stoppedAtMs = new LRUCache<string, number>({ max: MAX_REMEMBERED_NAMESPACES });
  #refused = 0;
  #isStopped = false;

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
    this.#maxWorkers = ports.workers ?? DEFAULT_WORKERS;
  }

  get waiting(): QueueStats {
    return { used: this.#waiting.size, limit: MAX_WAITING_TASKS, refused: this.#refused };
  }

  /**
   * Returns a result for each value, in order.
   * @throws Overloaded when too many tasks wait, most of them of this namespace; Error when no thread can be started
   */
  evaluate(task: PredicateTask, owner: TaskOwner): Promise<EvaluationResult[]> {
    if (this.#isStopped) return Promise.reject(new Overloaded('the sandbox is stopped'));
    if (task.values.length === 0) return Promise.resolve([]);
    if (this.#waiting.size >= MAX_WAITING_TASKS) {
      this.#refused += 1;
      const refused = new Overloaded('too many expressions wait to be evaluated');
      const displaced = this.#waiting.displace(owner.namespace);
      if (displaced === undefined) return Promise.reject(refused);
      displaced.reject(refused);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add({ task, owner, results: [], stopped: 0, retried: undefined, resolve, reject });
      this.#next();
    });
  }

  /** Rejects waiting and running tasks and terminates the threads. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#rejectAll(new Overloaded('the sandbox is stopped'));
    await Promise.all([...this.#slots].map((slot) => this.#end(slot)));
  }

  #next(): void {
    if (this.#waiting.size === 0) return;
    const idle = [...this.#slots].find(({ isReady, job }) => isReady && job === undefined);
    if (idle !== undefined) this.#give(idle, this.#waiting.next(this.#restriction()));
    else if (this.#slots.size < this.#maxWorkers) this.#start();
  }

  /** Returns whether a namespace may use another thread: the restricted ones leave one thread to the others. */
  #restriction(): (namespace: string) => boolean {
    const nowMs = this.#ports.clock.monotonicMs();
    const isRestricted = (namespace: string): boolean =>
      nowMs - (this.#stoppedAtMs.get(namespace) ?? -Infinity) < RESTRICTED_MS;
    const running = [...this.#slots].filter(({ job }) => job !== undefined && isRestricted(job.owner.namespace)).length;
    const hasRoom = running < Math.max(1, this.#maxWorkers - 1);
    return (namespace) => hasRoom || !isRestricted(namespace);
  }

  #start(): void {
    const worker = new Worker(this.#ports.worker ?? WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      execArgv: [],
      env: {},
    });
    const slot: Slot = { worker, isReady: false, job: undefined, cancelWatchdog: () => undefined };
    this.#slots.add(slot);
    this.#watch(slot, START_LIMIT_MS, () => {
      this.#failed(slot, new Error('did not start in time'));
    });
    worker.on('message', (message: WorkerMessage) => {
      this.#receive(slot, message);
    });
    worker.on('error', (error) => {
      this.#failed(slot, error);
    });
    worker.on('exit', (code) => {
      this.#failed(slot, new Error(`thread ended with ${code}`));
    });
  }

  #watch(slot: Slot, limitMs: number, late: () => void): void {
    slot.cancelWatchdog();
    slot.cancelWatchdog = this.#ports.clock.after(limitMs, late);
  }

  #give(slot: Slot, job: Job | undefined): void {
    if (job === undefined) return;
    slot.job = job;
    const { task, results, stopped } = job;
    const values = task.values.slice(results.length);
    const slice: TaskSlice = { ...task, values, sliceMs: SLICE_MS, maxStopped: MAX_STOPPED_VALUES - stopped };
    slot.worker.postMessage(slice);
    this.#watchValue(slot, task);
  }

  #watchValue(slot: Slot, { limitMs }: PredicateTask): void {
    this.#watch(slot, limitMs + WATCHDOG_GRACE_MS, () => {
      this.#failed(slot, new Error('took too long and did not stop'));
    });
  }

  #receive(slot: Slot, message: WorkerMessage): void {
    const { job } = slot;
    if (message.type === 'ready') {
      slot.isReady = true;
      slot.cancelWatchdog();
    } else if (job !== undefined && message.type === 'result') {
      this.#addResult(job, message.result);
      this.#watchValue(slot, job.task);
      return;
    } else if (job !== undefined) {
      slot.cancelWatchdog();
      slot.job = undefined;
      if (isOver(job)) finish(job);
      else this.#waiting.addFirst(job);
    }
    this.#next();
  }

  #addResult(job: Job, result: EvaluationResult): void {
    job.results.push(result);
    if (result.type !== 'limit') return;
    job.stopped += 1;
    this.#stoppedAtMs.set(job.owner.namespace, this.#ports.clock.monotonicMs());
  }

  /** Retries the current value once in another thread, and continues with the others. */
  #failed(slot: Slot, error: Error): void {
    if (!this.#slots.has(slot)) return;
    const { job, isReady } = slot;
    void this.#end(slot);
    if (this.#isStopped) return;
    this.#ports.log.warn({ err: error }, 'sandbox thread ended');
    if (!isReady) {
      // Another thread would fail to start as well.
      this.#rejectAll(new Error('the sandbox cannot be started', { cause: error }));
      return;
    }
    if (job !== undefined) {
      const at = job.results.length;
      if (job.retried === at) this.#addResult(job, { type: 'limit', error: error.message });
      else job.retried = at;
      this.#stoppedAtMs.set(job.owner.namespace, this.#ports.clock.monotonicMs());
      if (isOver(job)) finish(job);
      else this.#waiting.addFirst(job);
    }
    this.#next();
  }

  #rejectAll(error: Error): void {
    const running = [...this.#slots].flatMap(({ job }) => job ?? []);
    for (const job of [...this.#waiting.drain(), ...running]) job.reject(error);
  }

  async #end(slot: Slot): Promise<void> {
    this.#slots.delete(slot);
    slot.cancelWatchdog();
    await slot.worker.terminate();
  }
}

const isOver = ({ task, results, stopped }: Job): boolean =>
  results.length === task.values.length || stopped >= MAX_STOPPED_VALUES;

/** Resolves the job. The values that were not tried count as stopped. */
function finish({ task, results, resolve }: Job): void {
  const untried = task.values.slice(results.length);
  resolve([...results, ...untried.map((): EvaluationResult => ({ type: 'limit', error: 'not tried' }))]);
}
