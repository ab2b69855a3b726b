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
import { OwnerRecord } from './owner-record.ts';
import { firstFreeThread, Placement } from './placement.ts';
import { PredicateJob } from './predicate-job.ts';
import { filterInRounds, mutateInRounds } from './rounds.ts';
import { SandboxThread } from './thread.ts';

const DEFAULT_WORKERS = 2;
const MAX_WAITING_TASKS = 1_000;
/** The time between the failed start of a thread, while others are ready, and the next attempt. */
const RESTART_MS = 1_000;

export interface SandboxPorts {
  /** The real clock, which measures the threads. */
  clock: Clock;
  log: Log;
  /** Threads that run tasks; one or two more exist while programs that do not stop are replaced. */
  workers?: number;
  /** Defaults to the compiled worker. */
  worker?: URL;
}

/** The counters of the sandbox since its start. */
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
 * task, or its thread, which is replaced. Namespaces are served round robin, and those whose programs were stopped or late
 * leave one thread to the others.
 */
export class Sandbox {
  readonly #ports: SandboxPorts;
  readonly #maxWorkers: number;
  readonly #owners: OwnerRecord;
  readonly #threads = new Set<SandboxThread>();
  readonly #placement: Placement;
  readonly #waiting = new FairQueue<Job>();
  readonly counts: SandboxCounts = { evaluations: 0, stopped: 0, threadsEnded: 0 };
  #refused = 0;
  #isStopped = false;
  #cancelRestart: (() => void) | undefined;

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
    this.#owners = new OwnerRecord(ports.clock);
    this.#maxWorkers = ports.workers ?? DEFAULT_WORKERS;
    this.#placement = new Placement(this.#threads, this.#owners, this.#maxWorkers);
  }

  get waiting(): QueueStats {
    return { used: this.#waiting.size, limit: MAX_WAITING_TASKS, refused: this.#refused };
  }

  get threads(): number {
    return this.#threads.size;
  }

  /**
   * Returns a result for each value, in order.
   * @throws Overloaded when too many tasks wait, most of them of this namespace, or no thread can be started
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
   * @throws Overloaded when too many tasks wait, most of them of this namespace, or no thread can be started
   */
  filter(task: FilterTask, owner: TaskOwner): Promise<FilterResult> {
    const simple = this.#isStopped ? undefined : decideSimply(task.filters, task.event, task.nowMs);
    if (simple !== undefined) return Promise.resolve(simple);
    return this.#withConsole(
      owner,
      filterInRounds(task, (round) => this.#run((resolve, reject) => new FilterJob(round, owner, resolve, reject))),
    );
  }

  /**
   * Runs a JavaScript mutator.
   * @throws Overloaded when too many tasks wait, most of them of this namespace, or no thread can be started
   */
  mutate(task: MutateTask, owner: TaskOwner): Promise<MutateResult> {
    return this.#withConsole(
      owner,
      mutateInRounds(task, (round) => this.#run((resolve, reject) => new MutateJob(round, owner, resolve, reject))),
    );
  }

  /** Rejects waiting and running tasks and terminates the threads. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRestart?.();
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

  /** Returns the result, and logs what its programs wrote. */
  async #withConsole<T>({ namespace, name }: TaskOwner, ended: Promise<{ result: T; console: string }>): Promise<T> {
    const { result, console: text } = await ended;
    if (text !== '') this.#ports.log.debug({ namespace, name, text }, 'a program wrote to its console');
    return result;
  }

  /** Gives waiting tasks to threads, and starts threads, until neither is possible. */
  #next(): void {
    while (this.#waiting.size > 0 && !this.#isStopped) {
      const thread = firstFreeThread(this.#threads);
      const canStart = this.#cancelRestart === undefined;
      const job = thread && this.#waiting.next((candidate) => this.#placement.mayRun(candidate, thread, canStart));
      if (thread === undefined || job === undefined) {
        this.#startMissing();
        return;
      }
      thread.send(job, this.#placement.expectedMs(job));
    }
  }

  #restrict(owner: TaskOwner): void {
    this.#owners.restrict(owner);
    this.#startMissing();
  }

  /** Starts one thread at a time, because a start takes the CPU time of the others. */
  #startMissing(): void {
    for (const { isReady } of this.#threads) if (!isReady) return;
    if (this.#cancelRestart !== undefined) return;
    if (this.#present() < this.#wanted() && this.#threads.size < 2 * this.#maxWorkers + 1) this.#start();
  }

  /** Late threads do not count, so that their replacement is ready before they are ended. */
  #present(): number {
    let present = 0;
    for (const { isReady, isLate } of this.#threads) if (isReady && !isLate) present += 1;
    return present;
  }

  /** While there are restricted namespaces, a spare thread waits to replace one that does not respond. */
  #wanted(): number {
    return this.#maxWorkers + (this.#owners.hasRestricted ? 1 : 0);
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
      slow: ({ current }) => {
        if (current !== undefined) this.#restrict(current.owner);
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
    if (job.isShort) this.#owners.took(job.owner, tookMs);
    const { isOver, isStopped } = job.done(answer);
    if (isStopped) this.#stopped(job);
    if (isOver) this.counts.evaluations += 1;
    else this.#waiting.addFirst(job);
    this.#endSpare(thread);
  }

  /** Ends a thread that was started to replace a late one, when there are more than enough again. */
  #endSpare(thread: SandboxThread): void {
    if (!thread.isIdle || this.#present() <= this.#wanted()) return;
    this.#threads.delete(thread);
    void thread.end();
  }

  #stopped(job: Job): void {
    this.counts.stopped += 1;
    this.#restrict(job.owner);
  }

  /** The tasks behind a late one move to other threads, and a replacement of its thread is started. */
  #late(thread: SandboxThread): void {
    for (const job of thread.takeWaiting().reverse()) this.#waiting.addFirst(job);
    this.#startMissing();
    this.#next();
  }

  /** The tasks of a thread that ended move to other threads, except the one that caused the end. */
  #failed(thread: SandboxThread, error: Error, isGuilty: boolean): void {
    if (!this.#threads.delete(thread)) return;
    void thread.end();
    if (this.#isStopped) return;
    this.counts.threadsEnded += 1;
    this.#ports.log.warn({ err: error }, 'sandbox thread ended');
    if (!thread.isReady) {
      this.#startFailed(error);
      return;
    }
    const [current, ...waiting] = thread.jobs;
    for (const job of waiting.reverse()) this.#waiting.addFirst(job);
    if (current !== undefined) this.#endStep(current, error, isGuilty);
    this.#next();
  }

  /** Starts another thread later, while the others run the tasks. Without others all tasks are rejected. */
  #startFailed(error: Error): void {
    if (![...this.#threads].some(({ isReady }) => isReady)) {
      this.#rejectAll(new Overloaded('the sandbox cannot be started', { cause: error }));
      return;
    }
    this.#cancelRestart = this.#ports.clock.after(RESTART_MS, () => {
      this.#cancelRestart = undefined;
      this.#startMissing();
    });
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
