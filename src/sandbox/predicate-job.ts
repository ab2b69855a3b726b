import type { TaskOwner } from './fair-queue.ts';
import type { Job, Step } from './job.ts';
import type { EvaluationResult, PredicateTask } from './messages.ts';

/** After this time a task lets the tasks of others go first. */
const SLICE_MS = 25;
/** After this many values that exceeded a limit, the remaining values of a task are not tried. */
const MAX_STOPPED_VALUES = 3;

/** Evaluates predicates for many values, in slices, so that the tasks of others get the thread in between. */
export class PredicateJob implements Job {
  readonly owner: TaskOwner;
  readonly isShort = false;
  isRetried = false;
  readonly reject: (error: Error) => void;
  readonly #task: PredicateTask;
  readonly #resolve: (results: EvaluationResult[]) => void;
  readonly #results: EvaluationResult[] = [];
  #stopped = 0;

  constructor(
    task: PredicateTask,
    owner: TaskOwner,
    resolve: (results: EvaluationResult[]) => void,
    reject: (error: Error) => void,
  ) {
    this.#task = task;
    this.owner = owner;
    this.#resolve = resolve;
    this.reject = reject;
  }

  get limitMs(): number {
    return this.#task.limitMs;
  }

  request() {
    const values = this.#task.values.slice(this.#results.length);
    const maxStopped = MAX_STOPPED_VALUES - this.#stopped;
    return { ...this.#task, type: 'predicates' as const, values, sliceMs: SLICE_MS, maxStopped };
  }

  step(step: Step): boolean {
    return step.type === 'value' && this.#add(step.result);
  }

  done(): { isOver: boolean; isStopped: boolean } {
    return { isOver: this.#settle(), isStopped: false };
  }

  stopped(why: string): boolean {
    this.#add({ type: 'limit', error: why });
    return this.#settle();
  }

  #add(result: EvaluationResult): boolean {
    this.#results.push(result);
    this.isRetried = false;
    const isStopped = result.type === 'limit';
    if (isStopped) this.#stopped += 1;
    return isStopped;
  }

  /** Resolves when the task is over. The values that were not tried count as stopped. */
  #settle(): boolean {
    const untried = this.#task.values.slice(this.#results.length);
    if (untried.length > 0 && this.#stopped < MAX_STOPPED_VALUES) return false;
    this.#resolve([...this.#results, ...untried.map((): EvaluationResult => ({ type: 'limit', error: 'not tried' }))]);
    return true;
  }
}
