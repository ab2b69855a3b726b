import type { TaskOwner } from './fair-queue.ts';
import type { Job, Step } from './job.ts';
import type { FilterAnswer, FilterResult, FilterTask, MutateAnswer } from './messages.ts';
import { sentEvent } from './sent-event.ts';

/** CPU time limit of one filter, ms. */
const FILTER_LIMIT_MS = 50;

/** Evaluates the filters of one event in one request. */
export class FilterJob implements Job {
  readonly owner: TaskOwner;
  readonly isShort = true;
  readonly limitMs = FILTER_LIMIT_MS;
  isRetried = false;
  readonly reject: (error: Error) => void;
  readonly #task: FilterTask;
  readonly #resolve: (result: FilterResult, console: string) => void;
  #filter = 0;

  constructor(
    task: FilterTask,
    owner: TaskOwner,
    resolve: (result: FilterResult, console: string) => void,
    reject: (error: Error) => void,
  ) {
    this.#task = task;
    this.owner = owner;
    this.#resolve = resolve;
    this.reject = reject;
  }

  request() {
    this.#filter = 0;
    const { event, filters, nowMs } = this.#task;
    const { namespace } = this.owner;
    return { type: 'filter' as const, namespace, event: sentEvent(event), filters, nowMs, limitMs: FILTER_LIMIT_MS };
  }

  step(step: Step): boolean {
    if (step.type === 'begun') this.#filter = step.filter;
    return false;
  }

  done(answer: FilterAnswer | MutateAnswer | undefined): { isOver: boolean; isStopped: boolean } {
    if (answer === undefined || !('result' in answer))
      throw new Error('a filter request was answered without a result');
    this.#resolve(answer.result, answer.console);
    return { isOver: true, isStopped: answer.isStopped };
  }

  stopped(why: string): boolean {
    this.#resolve({ passes: false, filter: this.#task.filters[this.#filter]?.name ?? '', failed: why }, '');
    return true;
  }
}
