import { InvalidResource } from '../resources/errors.ts';
import { MAX_MEMBER_NAMES, MAX_VALUES } from './message-bounds.ts';

/** Levels of nesting. Functions that traverse a value recurse at each level. */
const MAX_NESTING = 1_000;
/** Bytes of numbers, punctuation and white space. Of these, long numbers cost a parser the most per byte. */
const MAX_PLAIN_BYTES = 4_194_304;
/** A shorter text holds no more than 10,922 names, and its nesting costs a parser nothing. */
const UNBOUNDED_BYTES = 64 * 1_024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Bytes of a text that are examined one by one before the next native search. */
const STEPS = 256;

/** One bit for each value that the hash of a name can have. */
const HASH_BITS = 18;
const FNV_PRIME = 16_777_619;
/** Differs in each process, so that a peer cannot choose names with the same hash. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/**
 * Validates the size of a JSON text before it is parsed: a parser would otherwise spend seconds on many small values. Takes
 * one pass over the bytes, and accepts malformed JSON, which the parser rejects. Short texts pass unread.
 * @throws InvalidResource
 */
export function assertJsonBounds(bytes: Buffer): void {
  if (bytes.length > UNBOUNDED_BYTES) endOfFirstValue(bytes);
}

/**
 * Returns the end of the object or array that the text starts with, undefined when it is incomplete.
 * @throws InvalidResource when the text up to there exceeds a bound
 */
export function endOfFirstValue(bytes: Buffer): number | undefined {
  const names = new NameCount(bytes);
  let depth = 0;
  /** Empty lists and objects count twice. */
  let values = 0;
  let textStart = 0;
  let textEnd = 0;
  let textBytes = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at] as number) {
      case QUOTE:
        textStart = at + 1;
        textEnd = endOfText(bytes, textStart);
        textBytes += textEnd - textStart;
        at = textEnd;
        break;
      case COLON:
        names.add(textStart, textEnd);
        break;
      case COMMA:
        values += 1;
        if (at - textBytes > MAX_PLAIN_BYTES) {
          throw new InvalidResource(`JSON must have at most ${MAX_PLAIN_BYTES} bytes outside strings`);
        }
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        values += 1;
        depth += 1;
        if (depth > MAX_NESTING) throw new InvalidResource(`JSON must be nested at most ${MAX_NESTING} deep`);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
    }
    if (values > MAX_VALUES) throw new InvalidResource(`JSON must have at most ${MAX_VALUES} values`);
  }
  return undefined;
}

/** Returns the position of the closing quotation mark, or the end of the bytes. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start; ;) {
    const steps = Math.min(at + STEPS, bytes.length);
    while (at < steps && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at >= bytes.length || bytes[at] === QUOTE) return at;
    // The text is long, so a native search is faster. It is repeated only after as many steps as above.
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length;
    if (!isEscaped(bytes, quote, at)) return quote;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes precedes `position`, down to `from`. */
function isEscaped(bytes: Buffer, position: number, from: number): boolean {
  let at = position;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return (position - at) % 2 === 1;
}

/** Counts different names by a hash, so that equal hashes count once. */
class NameCount {
  readonly #bytes: Buffer;
  readonly #seen = new Uint8Array(2 ** (HASH_BITS - 3));
  #count = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws InvalidResource */
  add(start: number, end: number): void {
    const hash = this.#hash(start, end) >>> (32 - HASH_BITS);
    const bit = 1 << (hash & 7);
    const byte = this.#seen[hash >>> 3] as number;
    if ((byte & bit) !== 0) return;
    this.#seen[hash >>> 3] = byte | bit;
    this.#count += 1;
    if (this.#count > MAX_MEMBER_NAMES)
      throw new InvalidResource(`JSON must have at most ${MAX_MEMBER_NAMES} different member names`);
  }

  #hash(start: number, end: number): number {
    const bytes = this.#bytes;
    let hash = SEED;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
    return hash;
  }
}
