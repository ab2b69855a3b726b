import type { HistoryEntry } from '../resources/event.ts';

/** Results of a check, the oldest first, as two lists of one length: there are many thousands of these, and two objects each are far fewer than 22. */
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

/** As events show it. */
export const entriesOf = ({ statuses, executed }: CheckHistory): HistoryEntry[] =>
  statuses.map((status, index) => ({ status, executed: executed[index] ?? 0 }));

/** One more result, and so many of the oldest fewer. */
export const withResult = (
  { statuses, executed }: CheckHistory,
  dropped: number,
  result: HistoryEntry,
): CheckHistory => ({
  statuses: withLatest(statuses, dropped, result.status),
  executed: withLatest(executed, dropped, result.executed),
});

/** Each result of a check makes such copies: one of the same length, which need not grow, is the cheapest. */
function withLatest(list: readonly number[], dropped: number, latest: number): number[] {
  if (dropped !== 1) return [...list.slice(dropped), latest];
  const copy = list.slice();
  for (let index = 1; index < copy.length; index += 1) copy[index - 1] = copy[index] ?? 0;
  copy[copy.length - 1] = latest;
  return copy;
}
