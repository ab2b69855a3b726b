import { LARGEST_INT64_NUMBER } from '../../resources/int64.ts';

/** All whole numbers below 2^63 that are read as 2^63, which is beyond 64 bits, begin so. */
const BEGINNING = '9223372036854775';
/** A text, also one that does not end, or one of these numbers. */
const TEXT_OR_LITERAL = /"(?:[^"\\]|\\[^]?)*"?|(?<![\d.eE+-])9223372036854775(?:29[6-9]|[3-7]\d\d|80[0-7])(?![\d.eE])/g;

/** JSON in which the whole numbers of 64 bits are read as numbers below 2^63, and no others are. It stays as long as it is. */
export const withinInt64 = (source: string): string =>
  source.includes(BEGINNING)
    ? source.replaceAll(TEXT_OR_LITERAL, (token) =>
        token.startsWith('"') ? token : BigInt(LARGEST_INT64_NUMBER).toString(),
      )
    : source;
