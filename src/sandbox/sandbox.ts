import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded } from '../resources/errors.ts';
import { decideSimply } from './decide-simply.ts';
import { FairQueue, type TaskOwner } from './fair-queue.ts';
import { FilterJob } from './filter-job.ts';
import type { Job } from './job.ts';
import type {
  EvaluationResult,
  FilterResult,
  FilterTask,
  MutateResult,
  MutateTask,
  PredicateTask,
  WorkerMessage,
} from './messages.ts';
import { MutateJob } from './mutate-job.ts';
import { PredicateJob } from './predicate-job.ts';
import { SandboxThread } from './thread.ts';

const DEFAULT_WORKERS = 2;
const MAX_WAITING_TASKS = 1_000;
/** The time for which a namespace is restricted after one of its programs was stopped or late. */
const RESTRICTED_MS = 60_000;
/** Beyond this number of restricted namespaces, the restriction of the one that was restricted first ends early. */
const MAX_REMEMBERED_NAMESPACES = 1_000;
/** Tasks of owners whose tasks are short wait in a thread while it has less than this to do, ms. */
const MAX_AHEAD_MS = 5;
/** Beyond this number of owners, the one that was used least recently counts as new: its next task gets an idle thread. */
const MAX_REMEMBERED_OWNERS = 1_000;
/** The weight of the last task of an owner in the time that its next one is expected to take. */
const LAST_WEIGHT = 0.3;

export interface SandboxPorts {
  /** The real clock, which measures the threads. */
  clock: Clock;
  log: Log;
  /** Threads that run tasks; one or two more exist while programs that do not stop are replaced. */
  workers?: number;
  /** Defaults to the compiled worker. */
  worker?: URL;
}

/** What the sandbox has done since its start. */
export interface SandboxCounts {
  /** Tasks that were evaluated. */
  evaluations: number;
  /** Programs that were stopped at a limit. */
  stopped: number;
  /** Threads that ended or had to be ended. */
  threadsEnded: number;
}

/**
 * Runs users' JavaScript in worker threads with limits of time and memory. A misbehaving program affects only its own
 * task, or its thread, which is replaced. Namespaces take turns, and those whose programs were stopped or late leave one
 * thread to the others.
 */
export class Sandbox {
  readonly #ports: SandboxPorts;
  readonly #maxWorkers: number;
  readonly #threads = new Set<SandboxThread>();
  readonly #waiting = new FairQueue<Job>();
  /** When the programs of a namespace were stopped or late last, monotonic ms. */
  readonly #restrictedAtMs = new LRUCache<string, number>({ max: MAX_REMEMBERED_NAMESPACES });
  /** The time that a task of an owner is expected to take, ms. */
  readonly #expectedMs = new LRUCache<string, number>({ max: MAX_REMEMBERED_OWNERS });
  readonly counts: SandboxCounts = { evaluations: 0, stopped: 0, threadsEnded: 0 };
  #refused = 0;
  #isStopped = false;

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
    this.#maxWorkers = ports.workers ?? DEFAULT_WORKERS;
  }

  get waiting(): QueueStats {
    return { used: this.#waiting.size, limit: MAX_WAITING_TASKS, refused: this.#refused };
  }

  get threads(): number {
    return this.#threads.size;
  }

  /**
   * Returns a result for each value, in order.
   * @throws Overloaded when too many tasks wait, most of them of this namespace; Error when no thread can be started
   */
  evaluate(task: PredicateTask, owner: TaskOwner): Promise<EvaluationResult[]> {
    if (task.values.length === 0 && !this.#isStopped) return Promise.resolve([]);
    return this.#run((resolve: (results: EvaluationResult[]) => void, reject) => {
      return new PredicateJob(task, owner, resolve, reject);
    });
  }

  /**
   * Evaluates filters in order until one denies. An expression that throws is left out and noted; one that is stopped at
   * a limit denies.
   * @throws Overloaded when too many tasks wait, most of them of this namespace; Error when no thread can be started
   */
  filter(task: FilterTask, owner: TaskOwner): Promise<FilterResult> {
    const simple = this.#isStopped ? undefined : decideSimply(task.filters, task.event, task.nowMs);
    if (simple !== undefined) return Promise.resolve(simple);
    return this.#run((resolve: (result: FilterResult) => void, reject) => {
      const decided = (result: FilterResult, written: string): void => {
        this.#logConsole(owner, written);
        resolve(result);
      };
      return new FilterJob(task, owner, decided, reject);
    });
  }

  /**
   * Runs a JavaScript mutator.
   * @throws Overloaded when too many tasks wait, most of them of this namespace; Error when no thread can be started
   */
  mutate(task: MutateTask, owner: TaskOwner): Promise<MutateResult> {
    return this.#run((resolve: (result: MutateResult) => void, reject) => {
      const mutated = (result: MutateResult, written: string): void => {
        this.#logConsole(owner, written);
        resolve(result);
      };
      return new MutateJob(task, owner, mutated, reject);
    });
  }

  /** Rejects waiting and running tasks and terminates the threads. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#rejectAll(new Overloaded('the sandbox is stopped'));
    const threads = [...this.#threads];
    this.#threads.clear();
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #run<T>(makeJob: (resolve: (result: T) => void, reject: (error: Error) => void) => Job): Promise<T> {
    return new Promise((resolve, reject) => {
      const job = makeJob(resolve, reject);
      if (this.#isStopped) {
        reject(new Overloaded('the sandbox is stopped'));
        return;
      }
      if (this.#waiting.size >= MAX_WAITING_TASKS) {
        this.#refused += 1;
        const refused = new Overloaded('too many expressions wait to be evaluated');
        const displaced = this.#waiting.displace(job.owner.namespace);
        if (displaced === undefined) {
          reject(refused);
          return;
        }
        displaced.reject(refused);
      }
      this.#waiting.add(job);
      this.#next();
    });
  }

  #logConsole({ namespace, name }: TaskOwner, text: string): void {
    if (text !== '') this.#ports.log.debug({ namespace, name, text }, 'console of a program');
  }

  /** Gives waiting tasks to threads, and starts threads, until neither is possible. */
  #next(): void {
    while (this.#waiting.size > 0 && !this.#isStopped) {
      const thread = this.#freest();
      if (thread === undefined) {
        this.#startMissing();
        return;
      }
      const job = this.#waiting.next((candidate) => this.#mayRun(candidate, thread));
      if (job === undefined) return;
      thread.send(job, this.#expected(job));
    }
  }

  /** The thread that is done first, if it can take another task. */
  #freest(): SandboxThread | undefined {
    let freest: SandboxThread | undefined;
    for (const thread of this.#threads) {
      if (thread.isIdle) return thread;
      const isOpen = thread.isReady && !thread.isLate && thread.expectedMs < MAX_AHEAD_MS;
      if (isOpen && thread.expectedMs < (freest?.expectedMs ?? Infinity)) freest = thread;
    }
    return freest;
  }

  /** The restricted namespaces leave one thread to the others. Tasks that may take long run in a thread alone. */
  #mayRun(job: Job, thread: SandboxThread): boolean {
    const isRestricted = this.#isRestricted(job.owner.namespace);
    if (!thread.isIdle) return !isRestricted && job.isShort && this.#expected(job) < MAX_AHEAD_MS;
    if (!isRestricted) return true;
    let running = 0;
    for (const { current } of this.#threads) {
      if (current !== undefined && this.#isRestricted(current.owner.namespace)) running += 1;
    }
    return running < Math.max(1, this.#maxWorkers - 1);
  }

  #isRestricted(namespace: string): boolean {
    const sinceMs = this.#restrictedAtMs.get(namespace);
    return sinceMs !== undefined && this.#ports.clock.monotonicMs() - sinceMs < RESTRICTED_MS;
  }

  #restrict({ namespace }: TaskOwner): void {
    this.#restrictedAtMs.set(namespace, this.#ports.clock.monotonicMs());
  }

  /** No other task waits behind one whose owner is new or restricted. */
  #expected({ owner, isShort }: Job): number {
    if (!isShort || this.#isRestricted(owner.namespace)) return MAX_AHEAD_MS;
    return this.#expectedMs.get(keyOf(owner)) ?? MAX_AHEAD_MS;
  }

  /** Late threads do not count, so that their replacement is ready before they are ended. One spare covers a restriction. */
  #startMissing(): void {
    let present = 0;
    let isStarting = false;
    let restricted = 0;
    for (const thread of this.#threads) {
      if (!thread.isLate) present += 1;
      if (!thread.isReady) isStarting = true;
      if (thread.current !== undefined && this.#isRestricted(thread.current.owner.namespace)) restricted = 1;
    }
    const wanted = Math.max(this.#maxWorkers, 1 + restricted);
    const isBounded = this.#threads.size < this.#maxWorkers + 2;
    if (!isStarting && present < wanted && isBounded) this.#start();
  }

  #start(): void {
    const { worker, clock } = this.#ports;
    const thread = new SandboxThread(worker, clock, {
      message: (...received) => {
        this.#receive(...received);
      },
      late: (late) => {
        this.#late(late);
      },
      failed: (...failure) => {
        this.#failed(...failure);
      },
    });
    this.#threads.add(thread);
  }

  #receive(thread: SandboxThread, message: WorkerMessage): void {
    if (message.type === 'done') this.#done(thread, message);
    else if (message.type !== 'ready') {
      const job = thread.jobOf(message.id);
      if (job?.step(message) === true) this.#stopped(job);
      return;
    }
    this.#next();
  }

  #done(thread: SandboxThread, { id, tookMs, answer }: Extract<WorkerMessage, { type: 'done' }>): void {
    const job = thread.complete(id);
    if (job === undefined) return;
    if (job.isShort) this.#learn(job.owner, tookMs);
    const { isOver, isStopped } = job.done(answer);
    if (isStopped) this.#stopped(job);
    if (isOver) this.counts.evaluations += 1;
    else this.#waiting.addFirst(job);
  }

  #learn(owner: TaskOwner, tookMs: number): void {
    const key = keyOf(owner);
    const known = this.#expectedMs.get(key);
    this.#expectedMs.set(key, known === undefined ? tookMs : known + LAST_WEIGHT * (tookMs - known));
  }

  #stopped(job: Job): void {
    this.counts.stopped += 1;
    this.#restrict(job.owner);
  }

  /** The tasks behind a late one go elsewhere, and a replacement of its thread is started. */
  #late(thread: SandboxThread): void {
    const { current } = thread;
    if (current !== undefined) this.#restrict(current.owner);
    for (const job of thread.takeWaiting().reverse()) this.#waiting.addFirst(job);
    this.#startMissing();
    this.#next();
  }

  /** The tasks of a thread that ended go elsewhere, but not the one that is to blame for it. */
  #failed(thread: SandboxThread, error: Error, isGuilty: boolean): void {
    if (!this.#threads.delete(thread)) return;
    void thread.end();
    if (this.#isStopped) return;
    this.counts.threadsEnded += 1;
    this.#ports.log.warn({ err: error }, 'sandbox thread ended');
    if (!thread.isReady) {
      // Another thread would fail to start as well.
      this.#rejectAll(new Error('the sandbox cannot be started', { cause: error }));
      return;
    }
    const [current, ...waiting] = thread.jobs;
    for (const job of waiting.reverse()) this.#waiting.addFirst(job);
    if (current !== undefined) this.#endStep(current, error, isGuilty);
    this.#next();
  }

  #endStep(job: Job, error: Error, isGuilty: boolean): void {
    if (!isGuilty && !job.isRetried) {
      job.isRetried = true;
      this.#waiting.addFirst(job);
      return;
    }
    this.#stopped(job);
    if (job.stopped(error.message)) this.counts.evaluations += 1;
    else this.#waiting.addFirst(job);
  }

  #rejectAll(error: Error): void {
    const running = [...this.#threads].flatMap(({ jobs }) => jobs);
    for (const job of [...this.#waiting.drain(), ...running]) job.reject(error);
  }
}

const keyOf = ({ namespace, name }: TaskOwner): string => `${namespace}/${name}`;
