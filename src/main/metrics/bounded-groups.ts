import { MAX_SERIES, OTHERS } from './bounded-series.ts';
import type { Sample } from './families.ts';

/**
 * The counts of groups whose names are the values of the labels, joined by slashes, the namespace first. Beyond
 * `MAX_SERIES` groups, those of the namespaces with the fewest objects are summed under the namespace `*`.
 */
export function boundedGroups<L extends string>(
  counts: ReadonlyMap<string, number>,
  labels: readonly L[],
): Sample<L>[] {
  const listed = listedNamespaces(counts);
  const sums = new Map<string, number>();
  for (const [group, count] of counts) {
    const shown =
      listed === undefined || listed.has(namespaceOf(group)) ? group : OTHERS + group.slice(group.indexOf('/'));
    sums.set(shown, (sums.get(shown) ?? 0) + count);
  }
  return [...sums].map(([group, count]) => {
    const values = group.split('/');
    const entries = labels.map((label, index) => [label, values[index] ?? '']);
    return [count, Object.fromEntries(entries) as Record<L, string>];
  });
}

const namespaceOf = (group: string): string => group.slice(0, group.indexOf('/'));

/** The namespaces with the most objects whose groups have at most `MAX_SERIES` series together. Undefined when all have. */
function listedNamespaces(counts: ReadonlyMap<string, number>): ReadonlySet<string> | undefined {
  if (counts.size <= MAX_SERIES) return undefined;
  const byNamespace = new Map<string, { objects: number; series: number }>();
  for (const [group, count] of counts) {
    const namespace = namespaceOf(group);
    const { objects, series } = byNamespace.get(namespace) ?? { objects: 0, series: 0 };
    byNamespace.set(namespace, { objects: objects + count, series: series + 1 });
  }
  const listed = new Set<string>();
  let total = 0;
  for (const [namespace, { series }] of [...byNamespace].toSorted(
    ([, one], [, other]) => other.objects - one.objects,
  )) {
    total += series;
    if (total > MAX_SERIES) break;
    listed.add(namespace);
  }
  return listed;
}
