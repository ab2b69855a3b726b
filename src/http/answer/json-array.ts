import { TimeSlices } from './time-slices.ts';

/** Target size of one part of a long list, in characters; a part has at least one item. */
const PART_LENGTH = 65_536;
/** A part also ends after this many skipped items, because reading them takes as long. */
const MAX_SKIPPED = 64;
/**
 * A part also ends after this time, because items that are not shown, or shown in part, can have megabytes. It is longer
 * than a usual page takes.
 */
const PART_MS = 30;
/**
 * Upper bound of the text built in one tick. A page of a hundred events stays below it, so the usual page is one
 * string.
 */
const MAX_LENGTH_AT_ONCE = 6 * PART_LENGTH;

const everything = (): boolean => true;

/** Serialises the items as a JSON array: a string when short, otherwise an iterable whose parts are built on demand. */
export function jsonArray<T extends object>(
  items: Iterable<T>,
  isShown: (item: T) => boolean = everything,
): string | Iterable<string> {
  const parts = partsOf(items, isShown);
  const made: string[] = [];
  for (let length = 0, isFull = true; isFull && length < MAX_LENGTH_AT_ONCE;) {
    const part = parts.next();
    made.push(part.value);
    if (part.done === true) return made.join('');
    length += part.value.length;
    isFull = part.value.length >= PART_LENGTH;
  }
  return following(made, parts);
}

/** Yields all parts but the last, which it returns. */
function* partsOf<T extends object>(items: Iterable<T>, isShown: (item: T) => boolean): Generator<string, string> {
  let part = '[';
  let separator = '';
  let skipped = 0;
  const slice = new TimeSlices(PART_MS);
  for (const item of items) {
    if (isShown(item)) {
      part += separator + JSON.stringify(item);
      separator = ',';
    } else skipped += 1;
    if (part.length < PART_LENGTH && skipped < MAX_SKIPPED && !slice.isOver) continue;
    yield part;
    part = '';
    skipped = 0;
    slice.restart();
  }
  return `${part}]`;
}

function* following(made: readonly string[], others: Generator<string, string>): Generator<string, void> {
  yield* made;
  yield yield* others;
}
