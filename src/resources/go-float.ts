/** Decimal and hexadecimal digits; an underscore separates two digits. */
const DIGITS = String.raw`\d+(?:_\d+)*`;
const HEX_DIGITS = String.raw`_?[\da-f]+(?:_[\da-f]+)*`;
const DECIMAL = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?$`, 'i');
const HEXADECIMAL = new RegExp(
  `^([+-]?)0x(?:(${HEX_DIGITS})(?:\\.([\\da-f]*))?|\\.([\\da-f]+))p([+-]?${DIGITS})$`,
  'i',
);
const INFINITE = /^([+-]?)inf(?:inity)?$/i;
const NAN = /^nan$/i;

/**
 * Parses a number as Go's `ParseFloat` does: `1e5`, `.5`, `1_000`, `0x1p4`, `Inf`, `NaN`. Returns undefined for any other text, and
 * for a number that is too large for 64 bits.
 */
export function parseGoFloat(text: string): number | undefined {
  if (DECIMAL.test(text)) return finite(Number(text.replaceAll('_', '')));
  if (NAN.test(text)) return NaN;
  const [, infinitySign] = INFINITE.exec(text) ?? [];
  if (infinitySign !== undefined) return infinitySign === '-' ? -Infinity : Infinity;
  const [, sign, whole = '', fraction = '', only = '', exponent = '0'] = HEXADECIMAL.exec(text) ?? [];
  if (sign === undefined) return undefined;
  return finite((sign === '-' ? -1 : 1) * hexadecimal(whole, fraction + only, exponent));
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);

/** The factor is applied in two steps, because a power beyond the range of 64 bits may still give a number within it. */
function hexadecimal(whole: string, fraction: string, exponent: string): number {
  const digits = (whole + fraction).replaceAll('_', '');
  const mantissa = digits.split('').reduce((sum, digit) => sum * 16 + Number.parseInt(digit, 16), 0);
  const power = Number(exponent.replaceAll('_', '')) - 4 * fraction.length;
  const half = Math.trunc(power / 2);
  return mantissa * 2 ** half * 2 ** (power - half);
}
