/** The member at the end of a path of names and indices, undefined where the path ends early. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let member = value;
  for (const step of path) {
    if (member === null || typeof member !== 'object') return undefined;
    member = (member as Record<string | number, unknown>)[step];
  }
  return member;
}
