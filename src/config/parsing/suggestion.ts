/** The distance up to which two names count as misspellings of each other, for a name of this length. */
const maxDistance = (length: number): number => Math.max(1, Math.floor(length / 4));

/** The shortest beginning of a name that is completed. */
const MIN_PREFIX = 3;

/** Returns the name that was probably meant by a misspelt or shortened one; undefined when none is near. */
export function suggestion(given: string, names: readonly string[]): string | undefined {
  const text = normalised(given);
  const [best] = names
    .map((name) => ({ name, distance: distance(text, normalised(name)) }))
    .toSorted((one, other) => one.distance - other.distance);
  if (best !== undefined && best.distance <= maxDistance(text.length)) return best.name;
  const longer = text.length < MIN_PREFIX ? [] : names.filter((name) => normalised(name).startsWith(text));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Converts a name to the form in which names are compared: case and separators do not matter. */
const normalised = (name: string): string => name.toLowerCase().replaceAll(/[_.\s-]/g, '');

/** Counts the letters to insert, to remove, to replace, or to exchange with their neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchanged = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isExchanged ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
