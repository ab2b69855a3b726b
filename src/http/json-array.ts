/** A long list is written in parts of about so many characters, or of one item. */
const PART_LENGTH = 65_536;

/** The items as a JSON array: one text when it is short, otherwise parts, of which each is made when it is asked for. */
export function jsonArray(items: Iterable<object>): string | Iterable<string> {
  const parts = partsOf(items);
  const first = parts.next();
  const second = parts.next();
  if (first.done === true) return '[]';
  return second.done === true ? first.value : following(first.value, second.value, parts);
}

function* partsOf(items: Iterable<object>): Generator<string, void> {
  let part = '[';
  let separator = '';
  for (const item of items) {
    part += separator + JSON.stringify(item);
    separator = ',';
    if (part.length < PART_LENGTH) continue;
    yield part;
    part = '';
  }
  yield `${part}]`;
}

function* following(first: string, second: string, others: Iterable<string>): Generator<string, void> {
  yield first;
  yield second;
  yield* others;
}
