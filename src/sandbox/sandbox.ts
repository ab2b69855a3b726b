import { Worker } from 'node:worker_threads';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded } from '../resources/errors.ts';
import type { PredicateTask, Verdict, WorkerMessage } from './messages.ts';

/** The compiled worker, for whoever runs from the sources too: threads take no loader with them. */
const WORKER = new URL('../../dist/sandbox/worker.js', import.meta.url);
const DEFAULT_WORKERS = 2;
const MAX_WAITING_TASKS = 1_000;
/**
 * A program is stopped from within at its limit; a thread that does not answer so long after that is ended. A thread on a busy machine
 * may not have run at all for some tenths of a second.
 */
const WATCHDOG_GRACE_MS = 1_000;
const START_LIMIT_MS = 10_000;
/** After so many values at which a program was stopped the others are not tried: they would take as long. */
const MAX_STOPPED_VALUES = 3;
const MAX_HEAP_MB = 64;

export interface SandboxPorts {
  /** Of the machine itself: it measures what threads take. */
  clock: Clock;
  log: Log;
  workers?: number;
  /** The compiled worker unless given. */
  worker?: URL;
}

interface Job {
  task: PredicateTask;
  verdicts: Verdict[];
  stopped: number;
  /** The value that a thread was ended at: on a busy machine that may not have been its fault. */
  retried: number | undefined;
  resolve(verdicts: Verdict[]): void;
  reject(error: Error): void;
}

interface Slot {
  worker: Worker;
  isReady: boolean;
  job: Job | undefined;
  cancelWatchdog: () => void;
}

/**
 * Runs JavaScript of users in worker threads, out of reach of everything else, one value at a time with a limit. Whatever it does
 * costs its own value and, at worst, its thread, which is replaced.
 */
export class Sandbox {
  readonly #ports: SandboxPorts;
  readonly #maxWorkers: number;
  readonly #slots = new Set<Slot>();
  #waiting: Job[] = [];
  #refused = 0;
  #isStopped = false;

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
    this.#maxWorkers = ports.workers ?? DEFAULT_WORKERS;
  }

  get waiting(): QueueStats {
    return { used: this.#waiting.length, limit: MAX_WAITING_TASKS, refused: this.#refused };
  }

  /** A verdict for each value, in order. @throws Overloaded when too many tasks wait, Error when no thread can be started */
  decide(task: PredicateTask): Promise<Verdict[]> {
    if (this.#isStopped) return Promise.reject(new Overloaded('the sandbox is stopped'));
    if (this.#waiting.length >= MAX_WAITING_TASKS) {
      this.#refused += 1;
      return Promise.reject(new Overloaded('too many expressions wait to be evaluated'));
    }
    if (task.values.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, verdicts: [], stopped: 0, retried: undefined, resolve, reject });
      this.#next();
    });
  }

  /** What waits is refused. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#rejectAll(new Overloaded('the sandbox is stopped'));
    await Promise.all([...this.#slots].map((slot) => this.#end(slot)));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const idle = [...this.#slots].find(({ isReady, job }) => isReady && job === undefined);
    if (idle !== undefined) this.#give(idle, this.#waiting.shift());
    else if (this.#slots.size < this.#maxWorkers) this.#start();
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
      this.#heard(slot, message);
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
    const { task, verdicts } = job;
    slot.worker.postMessage({ ...task, values: task.values.slice(verdicts.length) });
    this.#watchValue(slot, task);
  }

  #watchValue(slot: Slot, { limitMs }: PredicateTask): void {
    this.#watch(slot, limitMs + WATCHDOG_GRACE_MS, () => {
      this.#failed(slot, new Error('took too long and did not stop'));
    });
  }

  #heard(slot: Slot, message: WorkerMessage): void {
    const { job } = slot;
    if (message.type === 'ready') {
      slot.isReady = true;
      slot.cancelWatchdog();
    } else if (job !== undefined) {
      this.#judged(job, message.verdict);
      if (job.verdicts.length < job.task.values.length && job.stopped < MAX_STOPPED_VALUES) {
        this.#watchValue(slot, job.task);
        return;
      }
      slot.cancelWatchdog();
      slot.job = undefined;
      if (finish(job)) void this.#end(slot);
    }
    this.#next();
  }

  #judged(job: Job, verdict: Verdict): void {
    job.verdicts.push(verdict);
    if (verdict.type === 'limit') job.stopped += 1;
  }

  /** What it was at is tried once more in another thread, and then the others. */
  #failed(slot: Slot, error: Error): void {
    if (!this.#slots.has(slot)) return;
    const { job, isReady } = slot;
    void this.#end(slot);
    if (this.#isStopped) return;
    this.#ports.log.warn({ err: error }, 'thread of the sandbox ended');
    if (!isReady) {
      // Another one would not start either: whoever waits is told.
      this.#rejectAll(new Error('the sandbox cannot be started', { cause: error }));
      return;
    }
    if (job !== undefined) {
      const at = job.verdicts.length;
      if (job.retried === at) this.#judged(job, { type: 'limit', error: error.message });
      else job.retried = at;
      if (job.verdicts.length < job.task.values.length && job.stopped < MAX_STOPPED_VALUES) this.#waiting.unshift(job);
      else finish(job);
    }
    this.#next();
  }

  #rejectAll(error: Error): void {
    const running = [...this.#slots].flatMap(({ job }) => job ?? []);
    for (const job of [...this.#waiting.splice(0), ...running]) job.reject(error);
  }

  async #end(slot: Slot): Promise<void> {
    this.#slots.delete(slot);
    slot.cancelWatchdog();
    await slot.worker.terminate();
  }
}

/** Whether values are left that were not tried: the thread still goes through them. */
function finish({ task, verdicts, resolve }: Job): boolean {
  const untried = task.values.slice(verdicts.length);
  resolve([...verdicts, ...untried.map((): Verdict => ({ type: 'limit', error: 'not tried' }))]);
  return untried.length > 0;
}
