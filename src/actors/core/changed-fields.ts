/** The names of the members that differ, without their values, which may be secret. */
export function changedFields(before: object, after: object): string[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
}
