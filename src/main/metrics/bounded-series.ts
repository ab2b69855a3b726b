/** Users choose the names of namespaces and handlers: at most this many have a series of their own. */
export const MAX_SERIES = 1_000;
/** The label of the series that sums up all others; no name can be equal to it. */
export const OTHERS = '*';

/** The largest counts under their names, and the sum of the others, if there are any. */
export function boundedSeries(counts: ReadonlyMap<string, number>): [name: string, count: number][] {
  if (counts.size <= MAX_SERIES) return [...counts];
  const ordered = [...counts].toSorted(([, one], [, other]) => other - one);
  const others = ordered.splice(MAX_SERIES).reduce((sum, [, count]) => sum + count, 0);
  return [...ordered, [OTHERS, others]];
}
