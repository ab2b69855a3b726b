/** A long list is written in parts of about so many characters, or of one item. */
const PART_LENGTH = 65_536;
/** So many items that are not shown make a part too, as they take as long to read. */
const MAX_SKIPPED = 64;
/** So much is made in one turn, of full parts: a page of a hundred events is less, and turns of others between them would take longer than they do. */
const MAX_LENGTH_AT_ONCE = 6 * PART_LENGTH;

const everything = (): boolean => true;

/** The items as a JSON array: one text when it is short, otherwise parts, of which each is made when it is asked for. */
export function jsonArray<T extends object>(
  items: Iterable<T>,
  isShown: (item: T) => boolean = everything,
): string | Iterable<string> {
  const parts = partsOf(items, isShown);
  const made: string[] = [];
  for (let length = 0, isFull = true; isFull && length < MAX_LENGTH_AT_ONCE;) {
    const part = parts.next();
    if (part.done === true) return made.join('') + part.value;
    made.push(part.value);
    length += part.value.length;
    isFull = part.value.length >= PART_LENGTH;
  }
  return following(made, parts);
}

/** Returns the last one. */
function* partsOf<T extends object>(items: Iterable<T>, isShown: (item: T) => boolean): Generator<string, string> {
  let part = '[';
  let separator = '';
  let skipped = 0;
  for (const item of items) {
    if (isShown(item)) {
      part += separator + JSON.stringify(item);
      separator = ',';
    } else skipped += 1;
    if (part.length < PART_LENGTH && skipped < MAX_SKIPPED) continue;
    yield part;
    part = '';
    skipped = 0;
  }
  return `${part}]`;
}

function* following(made: readonly string[], others: Generator<string, string>): Generator<string, void> {
  yield* made;
  yield yield* others;
}
