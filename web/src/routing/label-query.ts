import { query, url } from './location.ts';

const LABEL = 'label';

/** The labels that the address filters by, each as `name=value`. */
export const labelsInQuery = (): readonly string[] => query.value.getAll(LABEL);

/** The current address with one more label. */
export function withLabel(label: string): string {
  const next = new URL(url.value);
  if (!next.searchParams.getAll(LABEL).includes(label)) next.searchParams.append(LABEL, label);
  return next.pathname + next.search;
}

/** The current address without one of its labels. */
export function withoutLabel(label: string): string {
  const next = new URL(url.value);
  const others = next.searchParams.getAll(LABEL).filter((one) => one !== label);
  next.searchParams.delete(LABEL);
  for (const one of others) next.searchParams.append(LABEL, one);
  return next.pathname + next.search;
}

/** Returns the test whether a resource has all of some labels. */
export function hasLabels(labels: readonly string[]): (of: Readonly<Record<string, string>>) => boolean {
  const wanted = labels.map((label) => label.split(/=(.*)/s, 2));
  return (of) => wanted.every(([name = '', value = '']) => of[name] === value);
}
