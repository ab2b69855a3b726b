/** The names of the members that differ, without their values, which may be secret. The order of the members of objects does not count. */
export function changedFields(before: object, after: object): string[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !isSame(old[name], now[name]));
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || JSON.stringify(one, sorted) === JSON.stringify(other, sorted);

/** A replacer that sorts the members of objects. */
const sorted = (_: string, value: unknown): unknown =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
