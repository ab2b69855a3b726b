import { LARGEST_INT64_NUMBER } from '../../resources/int64.ts';

/** Prefix of every integer below 2^63 that JSON.parse rounds up to 2^63, outside the int64 range. */
const ROUNDED_UP_PREFIX = '9223372036854775';
/** A string, terminated or not, or one of these integers. */
const TEXT_OR_LITERAL = /"(?:[^"\\]|\\[^]?)*"?|(?<![\d.eE+-])9223372036854775(?:29[6-9]|[3-7]\d\d|80[0-7])(?![\d.eE])/g;

/** Replaces these integers in a JSON text by the largest float below 2^63. The length of the text does not change. */
export const clampToInt64 = (source: string): string =>
  source.includes(ROUNDED_UP_PREFIX)
    ? source.replaceAll(TEXT_OR_LITERAL, (token) =>
        token.startsWith('"') ? token : BigInt(LARGEST_INT64_NUMBER).toString(),
      )
    : source;
