import { stringifyExactly } from './exact-json.ts';

/** UTF-16 units of a text that are encoded in one part. */
const PART_UNITS = 262_144;

const isLong = (text: string): boolean => text.length > PART_UNITS;

/**
 * Returns the JSON of a value in parts, which together are the text of `stringifyExactly`. Each long text, such as the output
 * of a check, has parts of its own, so that the caller can yield to other work between them. `partsOf` replaces how long
 * texts are encoded.
 */
export function* jsonParts(value: unknown, partsOf: (text: string) => Iterable<string> = textParts): Iterable<string> {
  if (typeof value === 'string' && isLong(value)) yield* partsOf(value);
  else if (!hasLongText(value)) yield stringifyExactly(value);
  else if (Array.isArray(value)) yield* listParts(value, partsOf);
  else yield* objectParts(value as object, partsOf);
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return isLong(value);
  if (value === null || typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some(hasLongText);
  for (const name in value) if (hasLongText((value as Record<string, unknown>)[name])) return true;
  return false;
}

function* listParts(list: unknown[], partsOf: (text: string) => Iterable<string>): Iterable<string> {
  let before = '[';
  for (const item of list) {
    yield before;
    yield* jsonParts(item ?? null, partsOf);
    before = ',';
  }
  yield ']';
}

function* objectParts(object: object, partsOf: (text: string) => Iterable<string>): Iterable<string> {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonParts(member, partsOf);
    before = ',';
  }
  yield '}';
}

function* textParts(text: string): Iterable<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    const end = at + PART_UNITS;
    // A character of two units must not be split: each half would be escaped.
    const next = end < text.length && isLowSurrogate(text.charCodeAt(end)) ? end + 1 : end;
    yield JSON.stringify(text.slice(at, next)).slice(1, -1);
    at = next;
  }
  yield '"';
}

/** Returns the bytes of a value's JSON in UTF-8. Long texts are counted and not encoded. */
export function jsonBytes(value: unknown): number {
  let bytes = 0;
  const counted = (text: string): string[] => {
    bytes += textBytes(text);
    return [];
  };
  for (const part of jsonParts(value, counted)) bytes += Buffer.byteLength(part);
  return bytes;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const BACKSPACE = 0x08;
const VERTICAL_TAB = 0x0b;
const CARRIAGE_RETURN = 0x0d;
const ESCAPE_BYTES = 6;

/** Whether the escape is `\b`, `\t`, `\n`, `\f` or `\r`; that of other control characters has the form `\u0000`. */
const hasShortEscape = (unit: number): boolean => unit >= BACKSPACE && unit <= CARRIAGE_RETURN && unit !== VERTICAL_TAB;

const isSurrogate = (unit: number): boolean => (unit & 0xf800) === 0xd800;
const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

function bytesOfAscii(unit: number): number {
  if (unit < SPACE) return hasShortEscape(unit) ? 2 : ESCAPE_BYTES;
  return unit === QUOTE || unit === BACKSLASH ? 2 : 1;
}

/** The bytes that escapes add to each ASCII character. */
const ESCAPES = Uint8Array.from({ length: 0x80 }, (_, unit) => bytesOfAscii(unit) - 1);

/** Counts a text of up to 10 MiB. Texts in ASCII have the most characters, and are counted faster. */
function textBytes(text: string): number {
  const scratch = Buffer.allocUnsafe(PART_UNITS);
  let bytes = 2;
  for (let from = 0; from < text.length; from += PART_UNITS) {
    const part = text.slice(from, from + PART_UNITS);
    const isAscii = Buffer.byteLength(part) === part.length;
    bytes += isAscii ? asciiBytes(part, scratch) : unitBytes(text, from, from + part.length);
  }
  return bytes;
}

function asciiBytes(part: string, scratch: Buffer): number {
  const { length } = part;
  scratch.write(part, 'latin1');
  let bytes = length;
  for (let at = 0; at < length; at += 1) bytes += ESCAPES[scratch[at] as number] as number;
  return bytes;
}

/** Counts the units of a text from one place to another. A character of two units counts where it begins. */
function unitBytes(text: string, from: number, to: number): number {
  let bytes = 0;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800) {
      if (!isSurrogate(unit)) bytes += 3;
      else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) bytes += 4;
      else if (!isLowSurrogate(unit) || !isHighSurrogate(text.charCodeAt(at - 1))) bytes += ESCAPE_BYTES;
    } else bytes += unit >= 0x80 ? 2 : bytesOfAscii(unit);
  }
  return bytes;
}
