import type { Event } from '../../resources/event.ts';

/** Room for the note at the end of an output that was cut. */
const NOTE_BYTES = 100;

/** The most bytes of one code unit in JSON. */
const LONGEST_ESCAPE_BYTES = 6;
/** Code units that are measured at once, from coarse to fine. A pair that is divided counts as more than it has. */
const STEPS = [65_536, 256, 1];

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** The bytes of a text as JSON, without its quotes. */
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Work in steps, each of which takes a few milliseconds, or as long as encoding the event once. */
type Steps<T> = Generator<undefined, T>;

/**
 * Returns the longest beginning of a text that has at most this many bytes as JSON. Takes time linear in its length.
 */
function* fitting(text: string, maxBytes: number): Steps<{ end: number; bytes: number }> {
  let end = 0;
  let bytes = 0;
  for (const step of STEPS) {
    while (end < text.length) {
      const more = jsonBytes(text.slice(end, end + step));
      if (bytes + more > maxBytes) break;
      bytes += more;
      end += step;
      yield;
    }
  }
  return { end: Math.min(end, text.length), bytes };
}

/** The bytes of a text as JSON; more than `maxBytes` when there are more. */
function* sizeUpTo(maxBytes: number, text: string): Steps<number> {
  const { end, bytes } = yield* fitting(text, maxBytes);
  return end === text.length ? bytes : maxBytes + 1;
}

/** Cuts a text to a number of bytes of JSON, and adds a note when something was cut. */
function* cutTo(maxBytes: number, text: string): Steps<string> {
  const { end } = yield* fitting(text, maxBytes);
  if (end === text.length) return text;
  const isInPair = isHighSurrogate(text.charCodeAt(end - 1));
  const kept = text.slice(0, isInPair ? end - 1 : end);
  return `${kept}\nOutput cut at ${kept.length} of ${text.length} characters, the event would be too large\n`;
}

/** Returns the size to which texts are cut so that all of them fit together. Shorter ones are not cut. */
function commonSize(sizes: readonly number[], room: number): number {
  let left = Math.max(0, room);
  const ascending = sizes.toSorted((one, other) => one - other);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

/** The output of the check and those of its hooks. */
const outputsOf = ({ check }: Event): string[] => [
  check?.output ?? '',
  ...(check?.hooks ?? []).map(({ output }) => output ?? ''),
];

/** Replaces the outputs, in the order of `outputsOf`. */
function withOutputs(event: Event, [output = '', ...hookOutputs]: readonly string[]): Event {
  const { check } = event;
  if (check === undefined) return event;
  const hooks = check.hooks?.map((hook, index) => ({ ...hook, output: hook.output && hookOutputs[index] }));
  return { ...event, check: { ...check, output, ...(hooks && { hooks }) } };
}

/**
 * Encodes an event in at most `maxBytes`. Otherwise the longest outputs of its check and its hooks are cut, with a
 * note. An event that is too large even without its outputs stays too large.
 */
export function* encodeWithFittingOutputs(
  event: Event,
  maxBytes: number,
  encode: (event: Event) => string,
): Steps<string> {
  const outputs = outputsOf(event);
  const characters = sum(outputs.map(({ length }) => length));
  // The texts of most events need not be measured.
  const isShort = characters * LONGEST_ESCAPE_BYTES <= maxBytes;
  const sizes: number[] = [];
  if (!isShort) for (const output of outputs) sizes.push(yield* sizeUpTo(maxBytes, output));
  let restBytes: number;
  if (sum(sizes) <= maxBytes) {
    const payload = encode(event);
    yield;
    const bytes = Buffer.byteLength(payload);
    if (bytes <= maxBytes) return payload;
    if (isShort) sizes.push(...outputs.map(jsonBytes));
    restBytes = bytes - sum(sizes);
  } else {
    // Encoding the outputs as they are could take six times their length.
    restBytes = Buffer.byteLength(encode(withOutputs(event, [])));
  }
  const share = commonSize(sizes, maxBytes - restBytes - NOTE_BYTES * outputs.length);
  const cut: string[] = [];
  for (const output of outputs) cut.push(yield* cutTo(share, output));
  return encode(withOutputs(event, cut));
}
