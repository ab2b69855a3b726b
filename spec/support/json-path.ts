/** Returns the member at a path of names and indices, or undefined if the path does not exist. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let member = value;
  for (const step of path) {
    if (member === null || typeof member !== 'object') return undefined;
    member = (member as Record<string | number, unknown>)[step];
  }
  return member;
}
