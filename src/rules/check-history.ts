import type { HistoryEntry } from '../resources/event.ts';

/** The number of results in a full history. */
export const HISTORY_LENGTH = 21;

/**
 * The results of a check, oldest first, as a list of statuses and one of times. Two lists take far less memory than one object for each
 * result.
 */
export interface CheckHistory {
  readonly statuses: readonly number[];
  /**
   * When the results were executed, in Unix seconds: the times before `end`, as many as there are statuses. The next history of the check
   * appends its time to the same list, because copying the list for each result takes longer than the rest of the merge.
   */
  readonly times: readonly number[];
  readonly end: number;
}

/** The length at which a list of times is copied without those that its history has dropped. */
const MAX_TIMES = 2 * HISTORY_LENGTH;

/** Makes a history of two lists of the same length. It takes over the second one. */
export const historyWith = (statuses: readonly number[], executed: number[]): CheckHistory => ({
  statuses,
  times: executed,
  end: executed.length,
});

export const NO_HISTORY: CheckHistory = historyWith([], []);

export const historyOf = (entries: readonly HistoryEntry[]): CheckHistory =>
  historyWith(
    entries.map(({ status }) => status),
    entries.map(({ executed }) => executed),
  );

/** Returns when the results were executed, in Unix seconds. */
export const executedTimes = ({ statuses, times, end }: CheckHistory): number[] =>
  times.slice(Math.max(end - statuses.length, 0), end);

/** Returns when the last result was executed, in Unix seconds; 0 if there is none. */
export const lastExecuted = ({ times, end }: CheckHistory): number => times[end - 1] ?? 0;

/** Converts a history to the form of events. */
export function entriesOf(history: CheckHistory): HistoryEntry[] {
  const executed = executedTimes(history);
  return history.statuses.map((status, index) => ({ status, executed: executed[index] ?? 0 }));
}

/** Appends a result and drops the `dropped` oldest ones. Other histories never change. */
export function withResult(history: CheckHistory, dropped: number, { status, executed }: HistoryEntry): CheckHistory {
  const statuses = statusesWith(history.statuses, dropped, status);
  const times = ownTimes(history, statuses.length - 1);
  times.push(executed);
  return { statuses, times, end: times.length };
}

/**
 * Returns a list that ends with the last times of a history. What is appended to it is not visible to any other history, so that the list
 * of the empty one, which all checks share, is never returned.
 */
function ownTimes({ times, end }: CheckHistory, kept: number): number[] {
  const isNewest = end === times.length && end > 0;
  return isNewest && end < MAX_TIMES ? (times as number[]) : times.slice(end - kept, end);
}

/** Returns the history of its last result alone. */
export const lastAlone = (history: CheckHistory): CheckHistory =>
  historyWith(history.statuses.slice(-1), executedTimes(history).slice(-1));

/** The statuses of full histories with one status, 0 to 3, which share these lists: most checks always pass. */
const UNIFORM: readonly (readonly number[])[] = [0, 1, 2, 3].map((status) =>
  Array.from({ length: HISTORY_LENGTH }, () => status),
);

/** Whether these are one of the shared lists, by their reference only. */
export const isSharedUniform = (statuses: readonly number[]): boolean => UNIFORM.includes(statuses);

function statusesWith(statuses: readonly number[], dropped: number, latest: number): readonly number[] {
  const uniform = UNIFORM[latest];
  if (statuses === uniform) return uniform;
  const next = withLatest(statuses, dropped, latest);
  const isShared = uniform !== undefined && next.length === HISTORY_LENGTH && next.every((each) => each === latest);
  return isShared ? uniform : next;
}

function withLatest(list: readonly number[], dropped: number, latest: number): readonly number[] {
  if (dropped !== 1) return list.slice(dropped).concat(latest);
  const copy = list.slice();
  for (let index = 1; index < copy.length; index += 1) copy[index - 1] = copy[index] ?? 0;
  copy[copy.length - 1] = latest;
  return copy;
}
