/** Escapes of one character. */
const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
/** The digits of escapes by their value, and the base. */
const CODED: Readonly<Record<string, [digits: number, base: number]>> = { x: [2, 16], u: [4, 16], U: [8, 16] };
const OCTAL_DIGITS = 3;
const INTEGER = /^([+-]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[1-9]\d*|0)$/;
const FLOAT = /^[+-]?(?=.*[.eE])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const UNDERSCORES = /(?<=[\da-fA-FxXoObB])_(?=[\da-fA-F])/g;
/** Go reads larger integers as floats, and refuses them because they are not written like one. */
const MAX_MAGNITUDE = 2n ** 64n - 1n;
const MAX_CODE_POINT = 0x10_ff_ff;
const MAX_BYTE = 255;
/** The bytes of UTF-8 that one unit of a text takes at most. */
const MAX_BYTES_PER_UNIT = 3;
const ENCODER = new TextEncoder();

/** Returns the value of a string in quotation marks of any kind; undefined when an escape is not valid. */
export function stringValue(quoted: string): string | undefined {
  const inside = quoted.slice(1, -1);
  if (quoted.startsWith('`')) return inside.replaceAll('\r', '');
  if (!inside.includes('\\')) return inside;
  const bytes = new ByteText(MAX_BYTES_PER_UNIT * inside.length);
  for (let index = 0; index < inside.length;) {
    const backslash = inside.indexOf('\\', index);
    bytes.addText(inside.slice(index, backslash < 0 ? undefined : backslash));
    if (backslash < 0) break;
    const length = addEscape(bytes, inside, backslash + 1, quoted[0] ?? '');
    if (length === 0) return undefined;
    index = backslash + 1 + length;
  }
  return bytes.text();
}

/** Adds the value of the escape whose backslash is before `index`. Returns its length without the backslash; 0 when it is not valid. */
function addEscape(bytes: ByteText, text: string, index: number, mark: string): number {
  const letter = text[index] ?? '';
  const simple = SIMPLE[letter];
  if (simple !== undefined) {
    if ((letter === '"' || letter === "'") && letter !== mark) return 0;
    bytes.addText(simple);
    return 1;
  }
  const coded = CODED[letter];
  const [digits, base] = coded ?? [OCTAL_DIGITS, 8];
  const from = coded === undefined ? index : index + 1;
  const code = codeOf(text.slice(from, from + digits), digits, base);
  if (code === undefined) return 0;
  const isByte = letter !== 'u' && letter !== 'U';
  if (isByte ? code > MAX_BYTE : !isCharacter(code)) return 0;
  if (isByte) bytes.addByte(code);
  else bytes.addText(String.fromCodePoint(code));
  return from - index + digits;
}

function codeOf(text: string, digits: number, base: number): number | undefined {
  const isNumber = text.length === digits && (base === 8 ? /^[0-7]+$/ : /^[\da-fA-F]+$/).test(text);
  return isNumber ? parseInt(text, base) : undefined;
}

const isCharacter = (code: number): boolean => code <= MAX_CODE_POINT && !(code >= 0xd8_00 && code < 0xe0_00);

/** A text that is written as UTF-8, with single bytes between. */
class ByteText {
  readonly #bytes: Uint8Array;
  #length = 0;

  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  addText(text: string): void {
    this.#length += ENCODER.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  addByte(byte: number): void {
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
  }
}

/**
 * Returns the value of a number: an integer, or a float if it is written with a point or an exponent. Undefined when it is not valid.
 * Integers may exceed those of a template.
 */
export function numberValue(text: string): bigint | number | undefined {
  const digits = text.replaceAll(UNDERSCORES, '');
  const [, sign, magnitude] = INTEGER.exec(digits) ?? [];
  if (magnitude === undefined) return FLOAT.test(digits) ? finite(Number(digits)) : undefined;
  const isOctal = /^0[0-7]+$/.test(magnitude);
  const value = BigInt(isOctal ? `0o${magnitude.slice(1)}` : magnitude.toLowerCase());
  if (value > MAX_MAGNITUDE) return undefined;
  return sign === '-' ? -value : value;
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);
