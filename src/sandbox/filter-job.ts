import type { TaskOwner } from './fair-queue.ts';
import type { Job, Step } from './job.ts';
import type { FilterAnswer, FilterTask, MutateAnswer } from './messages.ts';
import type { Round } from './rounds.ts';
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
  readonly #task: FilterTask & Round;
  readonly #resolve: (answer: FilterAnswer) => void;
  #filter = 0;

  constructor(
    task: FilterTask & Round,
    owner: TaskOwner,
    resolve: (answer: FilterAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#task = task;
    this.owner = owner;
    this.#resolve = resolve;
    this.reject = reject;
  }

  request() {
    this.#filter = 0;
    const { filters, nowMs, lookedUp, spentMs } = this.#task;
    const { namespace } = this.owner;
    const event = sentEvent(this.#task.event);
    const limitMs = FILTER_LIMIT_MS;
    return { type: 'filter' as const, namespace, event, filters, nowMs, limitMs, lookedUp, spentMs };
  }

  step(step: Step): boolean {
    if (step.type === 'begun') this.#filter = step.filter;
    return false;
  }

  done(answer: FilterAnswer | MutateAnswer | undefined): { isOver: boolean; isStopped: boolean } {
    if (answer === undefined || !('result' in answer))
      throw new Error('a filter request was answered without a result');
    this.#resolve(answer);
    return { isOver: true, isStopped: answer.isStopped };
  }

  stopped(why: string): boolean {
    const filter = this.#task.filters[this.#filter]?.name ?? '';
    this.#resolve({ result: { passes: false, filter, failed: why }, console: '', isStopped: true });
    return true;
  }
}
