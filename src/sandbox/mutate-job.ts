import { InvalidResource } from '../resources/errors.ts';
import type { TaskOwner } from './fair-queue.ts';
import type { Job } from './job.ts';
import type { FilterAnswer, MutateAnswer, MutateResult, MutateTask, LookupRequest } from './messages.ts';
import { mutatedEvent } from './mutated-event.ts';
import { MUTATOR_TIMEOUT } from './mutator-engine.ts';
import type { Round } from './rounds.ts';
import { sentEvent } from './sent-event.ts';

const DEFAULT_LIMIT_MS = 1_000;
/** A longer time limit of a mutator is shortened to this, because it holds a thread for that time. */
const MAX_LIMIT_MS = 60_000;
/** A mutator whose result is longer fails. */
const MAX_RESULT_CHARACTERS = 4 * 1024 * 1024;

/** Runs a mutator for one event. */
export class MutateJob implements Job {
  readonly owner: TaskOwner;
  readonly isShort = false;
  readonly limitMs: number;
  isRetried = false;
  readonly reject: (error: Error) => void;
  readonly #task: MutateTask & Round;
  readonly #resolve: (answer: { result: MutateResult | LookupRequest; console: string }) => void;

  constructor(
    task: MutateTask & Round,
    owner: TaskOwner,
    resolve: (answer: { result: MutateResult | LookupRequest; console: string }) => void,
    reject: (error: Error) => void,
  ) {
    this.#task = task;
    this.owner = owner;
    this.#resolve = resolve;
    this.reject = reject;
    this.limitMs = task.timeoutMs === 0 ? DEFAULT_LIMIT_MS : Math.min(task.timeoutMs, MAX_LIMIT_MS);
  }

  request() {
    const { body, variables, libraries = [], nowMs, lookedUp, spentMs } = this.#task;
    const { limitMs } = this;
    const event = sentEvent(this.#task.event);
    return { type: 'mutate' as const, event, body, variables, libraries, nowMs, limitMs, lookedUp, spentMs };
  }

  step(): boolean {
    return false;
  }

  done(answer: FilterAnswer | MutateAnswer | undefined): { isOver: boolean; isStopped: boolean } {
    if (answer === undefined || 'result' in answer) throw new Error('a mutate request was answered without a result');
    this.#resolve({ result: this.#resultOf(answer), console: answer.console });
    return { isOver: true, isStopped: answer.isStopped };
  }

  stopped(why: string): boolean {
    const error = why === 'took too long and did not stop' ? MUTATOR_TIMEOUT : why;
    this.#resolve({ result: { error }, console: '' });
    return true;
  }

  #resultOf(answer: MutateAnswer): MutateResult | LookupRequest {
    if ('wanted' in answer) return { wanted: answer.wanted, usedMs: answer.usedMs };
    if ('error' in answer) return { error: answer.error };
    const text = 'event' in answer ? answer.event : answer.text;
    if (text.length > MAX_RESULT_CHARACTERS) {
      return { error: `the result must be at most ${MAX_RESULT_CHARACTERS} characters` };
    }
    if ('text' in answer) return { data: text };
    try {
      return { data: mutatedEvent(this.#task.event, text) };
    } catch (error) {
      if (!(error instanceof InvalidResource)) throw error;
      return { error: error.message };
    }
  }
}
