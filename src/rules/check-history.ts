import type { HistoryEntry } from '../resources/event.ts';

/** The results of a check, oldest first, as two lists of the same length. Two lists take far less memory than one object for each result. */
export interface CheckHistory {
  readonly statuses: readonly number[];
  /** Unix seconds. */
  readonly executed: readonly number[];
}

export const NO_HISTORY: CheckHistory = { statuses: [], executed: [] };

export const historyOf = (entries: readonly HistoryEntry[]): CheckHistory => ({
  statuses: entries.map(({ status }) => status),
  executed: entries.map(({ executed }) => executed),
});

/** Converts a history to the form of events. */
export const entriesOf = ({ statuses, executed }: CheckHistory): HistoryEntry[] =>
  statuses.map((status, index) => ({ status, executed: executed[index] ?? 0 }));

/** Appends a result and drops the `dropped` oldest ones. */
export const withResult = (
  { statuses, executed }: CheckHistory,
  dropped: number,
  result: HistoryEntry,
): CheckHistory => ({
  statuses: withLatest(statuses, dropped, result.status),
  executed: withLatest(executed, dropped, result.executed),
});

/** Returns the same list if all its values are equal to the new one, as most statuses are. A list is never changed. */
function withLatest(list: readonly number[], dropped: number, latest: number): readonly number[] {
  if (dropped !== 1) return list.slice(dropped).concat(latest);
  if (list[0] === latest && list.every((value) => value === latest)) return list;
  const copy = list.slice();
  for (let index = 1; index < copy.length; index += 1) copy[index - 1] = copy[index] ?? 0;
  copy[copy.length - 1] = latest;
  return copy;
}
