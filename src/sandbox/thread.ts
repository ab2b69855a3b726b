import { Worker } from 'node:worker_threads';
import type { Clock } from '../ports/clock.ts';
import type { Job } from './job.ts';
import type { WorkerMessage, WorkerRequest } from './messages.ts';
import { threadCpuMs } from './thread-cpu.ts';

/** The compiled worker, also when running from source, because worker threads do not inherit the loader. */
const WORKER = new URL('../../dist/sandbox/worker.cjs', import.meta.url);
const MAX_HEAP_MB = 64;
const START_LIMIT_MS = 10_000;
/** A task that has not ended after this time is late: the others that wait behind it move to other threads. */
const LATE_MS = 75;
/**
 * A late task that has used this much CPU time since it became late is slow; its thread was not merely kept waiting.
 */
const SLOW_CPU_MS = 50;
/** The thread of a program that has not ended this long after its limit is terminated. */
const GRACE_MS = 200;
/**
 * A thread that used less CPU time than this while it was late, or than half the limit of its task, was not scheduled, and
 * gets more time.
 */
const GUILTY_CPU_MS = 60;
/** How often a thread with a late task is checked, ms. */
const AGAIN_MS = 25;
/** A thread that is not scheduled for this long is ended, and its task is tried once more. */
const MAX_STARVED_MS = 5_000;
/** Messages that have arrived are received before the time of a thread is checked. */
const RECEIVE_MS = 2;

/** The reports of a thread. */
export interface ThreadListener {
  message(thread: SandboxThread, message: WorkerMessage): void;
  /** The current task has taken longer than tasks should, perhaps because its thread was not scheduled. */
  late(thread: SandboxThread): void;
  /** The late task takes long by itself. */
  slow(thread: SandboxThread): void;
  /** The thread ended or has to be ended. `isGuilty` is false if its task did not cause that. */
  failed(thread: SandboxThread, error: Error, isGuilty: boolean): void;
}

interface InFlight {
  id: number;
  job: Job;
  expectedMs: number;
}

/** One worker thread with the jobs that were sent to it, the first of which runs. */
export class SandboxThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #listener: ThreadListener;
  readonly #jobs: InFlight[] = [];
  #nextId = 1;
  #isReady = false;
  #isLate = false;
  #isSlow = false;
  #threadId: string | undefined;
  #startedAtMs = 0;
  #signAtMs = 0;
  #cpuWhenLateMs: number | undefined;
  #expectedMs = 0;
  #cancelWatch: (() => void) | undefined;

  constructor(url: URL | undefined, clock: Clock, listener: ThreadListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#worker = new Worker(url ?? WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      execArgv: [],
      env: {},
    });
    this.#cancelWatch = clock.after(START_LIMIT_MS, () => {
      listener.failed(this, new Error('did not start in time'), false);
    });
    this.#worker.on('message', (message: WorkerMessage) => {
      this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      listener.failed(this, error, true);
    });
    this.#worker.on('exit', (code) => {
      listener.failed(this, new Error(`thread ended with ${code}`), true);
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether its current job is late. */
  get isLate(): boolean {
    return this.#isLate;
  }

  get isIdle(): boolean {
    return this.#isReady && this.#jobs.length === 0;
  }

  /** The time that its jobs are expected to take, ms. */
  get expectedMs(): number {
    return this.#expectedMs;
  }

  /** The job that runs. */
  get current(): Job | undefined {
    return this.#jobs[0]?.job;
  }

  get jobs(): readonly Job[] {
    return this.#jobs.map(({ job }) => job);
  }

  send(job: Job, expectedMs: number): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#jobs.push({ id, job, expectedMs });
    this.#expectedMs += expectedMs;
    if (this.#jobs.length === 1) this.#begin();
    this.#worker.postMessage({ ...job.request(), id } satisfies WorkerRequest);
  }

  /** Removes and returns the jobs behind the current one. What the thread answers to them is ignored. */
  takeWaiting(): Job[] {
    return this.#jobs.splice(1).map(({ job }) => job);
  }

  /** Removes the current job if it has this request id, and returns it. */
  complete(id: number): Job | undefined {
    const [first] = this.#jobs;
    if (first?.id !== id) return undefined;
    this.#jobs.shift();
    this.#expectedMs = Math.max(0, this.#expectedMs - first.expectedMs);
    if (this.#jobs.length > 0) this.#begin();
    else [this.#expectedMs, this.#isLate] = [0, false];
    return first.job;
  }

  /** The current job if it has this request id. */
  jobOf(id: number): Job | undefined {
    const [first] = this.#jobs;
    return first?.id === id ? first.job : undefined;
  }

  async end(): Promise<void> {
    this.#cancelWatch?.();
    await this.#worker.terminate();
  }

  #receive(message: WorkerMessage): void {
    if (message.type === 'ready') {
      this.#isReady = true;
      this.#threadId = message.threadId;
      this.#cancelWatch?.();
      this.#cancelWatch = undefined;
    } else {
      this.#signAtMs = this.#clock.monotonicMs();
    }
    this.#listener.message(this, message);
  }

  #begin(): void {
    this.#startedAtMs = this.#signAtMs = this.#clock.monotonicMs();
    this.#isLate = false;
    this.#isSlow = false;
    this.#cpuWhenLateMs = undefined;
    this.#cancelWatch ??= this.#clock.after(LATE_MS, this.#watch);
  }

  /** One timer per thread watches whatever job runs when it fires. */
  readonly #watch = (): void => {
    this.#cancelWatch = this.#clock.after(RECEIVE_MS, () => {
      this.#cancelWatch = undefined;
      const againMs = this.#check();
      if (againMs !== undefined) this.#cancelWatch = this.#clock.after(againMs, this.#watch);
    });
  };

  /** Returns the time until the next check, or undefined if nothing runs. */
  #check(): number | undefined {
    const job = this.current;
    if (job === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const runsMs = nowMs - this.#startedAtMs;
    if (runsMs < LATE_MS) return LATE_MS - runsMs;
    if (!this.#isLate) {
      this.#isLate = true;
      this.#cpuWhenLateMs = threadCpuMs(this.#threadId);
      this.#listener.late(this);
    }
    const usedMs = this.#usedSinceLate();
    if (!this.#isSlow && usedMs >= SLOW_CPU_MS) {
      this.#isSlow = true;
      this.#listener.slow(this);
    }
    const silentMs = nowMs - this.#signAtMs;
    const endMs = job.limitMs + GRACE_MS;
    const isGuilty = usedMs >= Math.max(GUILTY_CPU_MS, job.limitMs / 2);
    if (silentMs < endMs || (!isGuilty && silentMs < endMs + MAX_STARVED_MS)) return AGAIN_MS;
    this.#listener.failed(this, new Error('took too long and did not stop'), isGuilty);
    return undefined;
  }

  /** The CPU time of the thread since its task became late, ms; infinite where the system does not report it. */
  #usedSinceLate(): number {
    const usedMs = threadCpuMs(this.#threadId);
    return usedMs === undefined || this.#cpuWhenLateMs === undefined ? Infinity : usedMs - this.#cpuWhenLateMs;
  }
}
