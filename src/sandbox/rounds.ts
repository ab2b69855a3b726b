import { type LookedUp, Lookups, MAX_FETCHED_EVENTS } from './lookups.ts';
import type { FilterAnswer, FilterResult, FilterTask, MutateResult, MutateTask, LookupRequest } from './messages.ts';

/** One for each fetched event, one each for the list and the first event beyond the limit, and the last one. */
const MAX_ROUNDS = MAX_FETCHED_EVENTS + 3;
const TOO_MANY = 'asked for too many events';

/** The part of a task that differs between its rounds. */
export interface Round {
  lookedUp: LookedUp;
  /** The CPU time that earlier rounds of the same filter or mutator took, ms. It counts towards the limit. */
  spentMs: number;
}

/**
 * Evaluates filters in rounds: one that asks for an event ends, and is evaluated again when the event is looked up.
 * Filters that passed the event are not evaluated again.
 */
export async function filterInRounds(
  task: FilterTask,
  evaluate: (task: FilterTask & Round) => Promise<FilterAnswer>,
): Promise<{ result: FilterResult; console: string }> {
  const lookups = new Lookups(task.events);
  const notes: string[] = [];
  let { filters } = task;
  let [console, spentMs] = ['', 0];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const answer = await evaluate({ ...task, filters, lookedUp: lookups.found, spentMs });
    console += answer.console;
    const { result } = answer;
    if (!('wanted' in result)) {
      return { result: result.passes ? { passes: true, notes: [...notes, ...result.notes] } : result, console };
    }
    notes.push(...result.notes);
    filters = filters.slice(result.filter);
    spentMs = result.usedMs;
    await lookups.add(result.wanted);
  }
  return { result: { passes: false, filter: filters[0]?.name ?? '', failed: TOO_MANY }, console };
}

/** Runs a mutator in rounds, like `filterInRounds`. */
export async function mutateInRounds(
  task: MutateTask,
  evaluate: (task: MutateTask & Round) => Promise<{ result: MutateResult | LookupRequest; console: string }>,
): Promise<{ result: MutateResult; console: string }> {
  const lookups = new Lookups(task.events);
  let spentMs = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { result, console } = await evaluate({ ...task, lookedUp: lookups.found, spentMs });
    if (!('wanted' in result)) return { result, console };
    spentMs = result.usedMs;
    await lookups.add(result.wanted);
  }
  return { result: { error: TOO_MANY }, console: '' };
}
