import { LARGEST_INT64_NUMBER } from '../../resources/int64.ts';

/** Prefix of every integer below 2^63 that JSON.parse rounds up to 2^63, outside the int64 range. */
const ROUNDED_UP_PREFIX = '9223372036854775';
/** One of these integers. */
const LITERAL = /(?<![\d.eE+-])9223372036854775(?:29[6-9]|[3-7]\d\d|80[0-7])(?![\d.eE])/g;
const CLAMPED = BigInt(LARGEST_INT64_NUMBER).toString();

/**
 * Replaces these integers in a JSON text by the largest float below 2^63, outside of its strings. The length of the text
 * does not change.
 */
export function clampToInt64(source: string): string {
  if (!source.includes(ROUNDED_UP_PREFIX)) return source;
  let clamped = '';
  for (let at = 0; at < source.length;) {
    const quote = source.indexOf('"', at);
    const plainEnd = quote < 0 ? source.length : quote;
    const textEnd = quote < 0 ? source.length : endOfText(source, quote + 1);
    clamped += source.slice(at, plainEnd).replaceAll(LITERAL, CLAMPED) + source.slice(plainEnd, textEnd);
    at = textEnd;
  }
  return clamped;
}

/** Returns the position after a string. Uses a loop, because a regular expression overflows the stack in a long string. */
export function endOfText(source: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== '"') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}
