import type { Job } from './job.ts';
import type { OwnerRecord } from './owner-record.ts';
import type { SandboxThread } from './thread.ts';

/** Tasks of owners whose tasks are short wait in a thread while it has less than this to do, ms. */
const MAX_AHEAD_MS = 5;

/** Decides which task a thread may take. */
export class Placement {
  readonly #threads: ReadonlySet<SandboxThread>;
  readonly #owners: OwnerRecord;
  readonly #maxWorkers: number;

  constructor(threads: ReadonlySet<SandboxThread>, owners: OwnerRecord, maxWorkers: number) {
    this.#threads = threads;
    this.#owners = owners;
    this.#maxWorkers = maxWorkers;
  }

  /**
   * The restricted namespaces leave one thread to the others. They may use the last thread while no other one can be started, because
   * they would wait for ever. Tasks that may take long run in a thread alone.
   */
  mayRun(job: Job, thread: SandboxThread, canStart: boolean): boolean {
    const isRestricted = this.#owners.isRestricted(job.owner);
    if (!thread.isIdle) return !isRestricted && job.isShort && this.expectedMs(job) < MAX_AHEAD_MS;
    if (!isRestricted) return true;
    let running = 0;
    let left = 0;
    for (const other of this.#threads) {
      if (this.#isRunningRestricted(other)) running += 1;
      else if (other.isReady && !other.isLate && other !== thread) left += 1;
    }
    return (left > 0 || !canStart) && running < Math.max(1, this.#maxWorkers - 1);
  }

  /** The time that a task is expected to take, ms. No other task waits behind one whose owner is new or restricted. */
  expectedMs({ owner, isShort }: Job): number {
    if (!isShort || this.#owners.isRestricted(owner)) return MAX_AHEAD_MS;
    return this.#owners.expectedMs(owner) ?? MAX_AHEAD_MS;
  }

  #isRunningRestricted({ current }: SandboxThread): boolean {
    return current !== undefined && this.#owners.isRestricted(current.owner);
  }
}

/** The thread that will be free first, if it can take another task. */
export function firstFreeThread(threads: Iterable<SandboxThread>): SandboxThread | undefined {
  let best: SandboxThread | undefined;
  for (const thread of threads) {
    if (thread.isIdle) return thread;
    const isOpen = thread.isReady && !thread.isLate && thread.expectedMs < MAX_AHEAD_MS;
    if (isOpen && thread.expectedMs < (best?.expectedMs ?? Infinity)) best = thread;
  }
  return best;
}
