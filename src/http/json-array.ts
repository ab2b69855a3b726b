/** A long list is written in parts of about so many characters, or of one item. */
const PART_LENGTH = 65_536;
/** So many items that are not shown make a part too, as they take as long to read. */
const MAX_SKIPPED = 64;

const everything = (): boolean => true;

/** The items as a JSON array: one text when it is short, otherwise parts, of which each is made when it is asked for. */
export function jsonArray<T extends object>(
  items: Iterable<T>,
  isShown: (item: T) => boolean = everything,
): string | Iterable<string> {
  const parts = partsOf(items, isShown);
  const first = parts.next();
  const second = parts.next();
  if (first.done === true) return '[]';
  return second.done === true ? first.value : following(first.value, second.value, parts);
}

function* partsOf<T extends object>(items: Iterable<T>, isShown: (item: T) => boolean): Generator<string, void> {
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
  yield `${part}]`;
}

function* following(first: string, second: string, others: Iterable<string>): Generator<string, void> {
  yield first;
  yield second;
  yield* others;
}
