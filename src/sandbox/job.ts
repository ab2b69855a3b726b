import type { TaskOwner } from './fair-queue.ts';
import type { FilterAnswer, MutateAnswer, WorkerMessage, WorkerRequest } from './messages.ts';

/** The report of a worker about a request before it is done. */
export type Step = Extract<WorkerMessage, { type: 'value' | 'begun' }>;

/** Omits from each member of a union. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A task on its way through the sandbox, in one or several requests. Its promise is settled by exactly one of its methods. */
export interface Job {
  readonly owner: TaskOwner;
  /** CPU time limit of one step, ms. */
  readonly limitMs: number;
  /** Whether other requests may wait in a thread behind this one, because it takes a similar time as the last one of its owner. */
  readonly isShort: boolean;
  /** Whether the thread ended at the current step without being at fault; such a step is tried once more. */
  isRetried: boolean;
  request(): Without<WorkerRequest, 'id'>;
  /** Takes a step. Returns whether a program was stopped at a limit. */
  step(step: Step): boolean;
  /** Takes the end of a request. Returns whether the task is over, and whether a program was stopped at a limit. */
  done(answer: FilterAnswer | MutateAnswer | undefined): { isOver: boolean; isStopped: boolean };
  /** Ends the current step, because its thread had to be ended. Returns whether the task is over. */
  stopped(why: string): boolean;
  reject(error: Error): void;
}
