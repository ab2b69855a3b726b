import type { HistoryEntry } from '../resources/event.ts';

/** The number of results in a full history. */
export const HISTORY_LENGTH = 21;

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

/** Appends a result and drops the `dropped` oldest ones. Lists are never changed in place. */
export const withResult = (
  { statuses, executed }: CheckHistory,
  dropped: number,
  result: HistoryEntry,
): CheckHistory => ({
  statuses: statusesWith(statuses, dropped, result.status),
  executed: withLatest(executed, dropped, result.executed),
});

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
