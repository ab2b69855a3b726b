import type { Budget } from './budget.ts';
import { formatted, formatWith, shortest, withExponent } from './format-value.ts';
import { quoted } from './quote.ts';
import { GoNumber, typeOf, type Value } from './values.ts';

const VERB = /%([-+# 0]*)(\[\d+\])?(\*|\d+)?(?:(\.)(\[\d+\])?(\*|\d+)?)?(\[\d+\])?([^])?/gu;
/** A width or precision above this is refused in the output. */
const MAX_WIDTH = 1_000_000;
const DEFAULT_PRECISION = 6;
/** The largest precision that JavaScript formats. */
const MAX_DIGITS = 100;

interface Layout {
  verb: string;
  flags: string;
  width: number | undefined;
  precision: number | undefined;
}

/** Formats arguments like Go's `Sprintf`. Mistakes in the format are reported in the text, `%!d(string=a)`. */
export function formatVerbs(format: string, args: readonly Value[], budget: Budget): string {
  const state = new Arguments(args);
  let text = '';
  let end = 0;
  for (const match of format.matchAll(VERB)) {
    text += format.slice(end, match.index) + formatOne(match, state, budget);
    end = match.index + match[0].length;
    budget.fits(text.length);
  }
  text += format.slice(end);
  const extra = state.unused();
  if (extra.length > 0) text += `%!(EXTRA ${extra.map((arg) => described(arg, budget)).join(', ')})`;
  budget.text(text.length);
  return text;
}

function formatOne(match: RegExpExecArray, state: Arguments, budget: Budget): string {
  const [, flags = '', widthIndex, width, point, precisionIndex, precision, index, verb] = match;
  state.isBad = false;
  state.moveTo(widthIndex);
  const layout: Layout = { verb: verb ?? '', flags, width: undefined, precision: undefined };
  let note = '';
  if (width === '*') {
    layout.width = state.size();
    if (layout.width === undefined) note += '%!(BADWIDTH)';
    else if (layout.width < 0) Object.assign(layout, { flags: `${flags}-`, width: -layout.width });
  } else if (width !== undefined) layout.width = Number(width);
  state.moveTo(precisionIndex);
  if (precision === '*') {
    layout.precision = state.size();
    if (layout.precision === undefined || layout.precision < 0) {
      layout.precision = undefined;
      note += '%!(BADPREC)';
    }
  } else if (point !== undefined) layout.precision = Number(precision ?? 0);
  if ((layout.width ?? 0) > MAX_WIDTH) {
    layout.width = undefined;
    note += '%!(BADWIDTH)';
  }
  state.moveTo(index ?? (width === undefined ? widthIndex : undefined));
  if (verb === undefined) return `${note}%!(NOVERB)`;
  if (verb === '%') return `${note}%`;
  if (state.isBad) return `${note}%!${verb}(BADINDEX)`;
  if (state.isAtEnd) return `${note}%!${verb}(MISSING)`;
  if (layout.width !== undefined) budget.text(layout.width);
  return note + formatArgument(state.next(), layout, budget);
}

function formatArgument(arg: Value, layout: Layout, budget: Budget): string {
  if (layout.verb === 'T') return padded(typeOf(arg), layout);
  if (layout.verb === 'p') return bad(arg, layout.verb, budget);
  if (arg === undefined || arg === null) {
    return layout.verb === 'v' ? padded('<nil>', layout) : `%!${layout.verb}(<nil>)`;
  }
  return formatWith(arg, budget, (item) => formatScalar(item, layout, budget));
}

function formatScalar(item: Value, layout: Layout, budget: Budget): string {
  if (typeof item === 'string') return formatText(item, layout, budget);
  if (typeof item === 'boolean') {
    return layout.verb === 'v' || layout.verb === 't' ? padded(String(item), layout) : bad(item, layout.verb, budget);
  }
  if (!(item instanceof GoNumber)) {
    return layout.verb === 'v' ? padded('<nil>', layout) : `%!${layout.verb}(<nil>)`;
  }
  const text = typeof item.value === 'bigint' ? formatInteger(item.value, layout) : formatFloat(item.value, layout);
  return text ?? bad(item, layout.verb, budget);
}

function formatText(text: string, layout: Layout, budget: Budget): string {
  const characters = layout.precision === undefined ? text : firstOf(text, layout.precision);
  switch (layout.verb) {
    case 'v':
      return padded(layout.flags.includes('#') ? quoted(characters) : characters, layout);
    case 's':
      return padded(characters, layout);
    case 'q':
      return padded(
        layout.flags.includes('#') && !text.includes('`') ? `\`${characters}\`` : quoted(characters),
        layout,
      );
    case 'x':
    case 'X':
      return padded(hexadecimal(text, layout, budget), layout);
    default:
      return bad(text, layout.verb, budget);
  }
}

function hexadecimal(text: string, { verb, flags, precision }: Layout, budget: Budget): string {
  budget.text(text.length);
  const bytes = new TextEncoder().encode(text).subarray(0, precision);
  budget.step(bytes.length);
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const prefix = flags.includes('#') && digits.length > 0 ? '0x' : '';
  const hex = flags.includes(' ') ? digits.map((pair) => prefix + pair).join(' ') : prefix + digits.join('');
  return verb === 'X' ? hex.toUpperCase() : hex;
}

/** Returns the first `count` characters of a text. Reads no further than these. */
function firstOf(text: string, count: number): string {
  let end = 0;
  for (let found = 0; found < count && end < text.length; found += 1) end += isWide(text, end) ? 2 : 1;
  return text.slice(0, end);
}

const isWide = (text: string, index: number): boolean => (text.codePointAt(index) ?? 0) > 0xff_ff;

const BASES: Readonly<Record<string, [radix: number, prefix: string]>> = {
  v: [10, ''],
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, ''],
  x: [16, '0x'],
  X: [16, '0X'],
};

function formatInteger(value: bigint, layout: Layout): string | undefined {
  const { verb, flags, precision, width } = layout;
  if (verb === 'c' || verb === 'q' || verb === 'U') return formatCharacter(value, layout);
  const [radix, prefix] = BASES[verb] ?? [];
  if (radix === undefined) return undefined;
  const sign = value < 0n ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  let digits = (value < 0n ? -value : value).toString(radix);
  if (verb === 'X') digits = digits.toUpperCase();
  if (precision === 0 && value === 0n) return padded('', layout);
  const shown = (flags.includes('#') ? (prefix ?? '') : '') + (verb === 'O' ? '0o' : '');
  const isZeroPadded = flags.includes('0') && !flags.includes('-') && precision === undefined && width !== undefined;
  const length = isZeroPadded ? width - sign.length : Math.min(precision ?? 0, MAX_WIDTH);
  return padded(sign + shown + digits.padStart(length, '0'), { ...layout, flags: flags.replaceAll('0', '') });
}

function formatCharacter(value: bigint, layout: Layout): string {
  const isValid = value >= 0n && value <= 0x10_ff_ffn && !(value >= 0xd8_00n && value < 0xe0_00n);
  if (layout.verb === 'U') return padded(`U+${value.toString(16).toUpperCase().padStart(4, '0')}`, layout);
  const character = isValid ? String.fromCodePoint(Number(value)) : '\uFFFD';
  if (layout.verb === 'c') return padded(character, layout);
  return padded(
    character === "'" ? String.raw`'\''` : `'${quoted(character).slice(1, -1).replace('\\"', '"')}'`,
    layout,
  );
}

function formatFloat(value: number, layout: Layout): string | undefined {
  const { verb, flags, precision } = layout;
  const magnitude = floatDigits(Math.abs(value), verb, precision);
  if (magnitude === undefined) return undefined;
  const isNegative = value < 0 || Object.is(value, -0);
  const sign = isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if (!flags.includes('0') || flags.includes('-') || layout.width === undefined)
    return padded(sign + magnitude, layout);
  return sign + magnitude.padStart(layout.width - sign.length, '0');
}

function floatDigits(value: number, verb: string, precision: number | undefined): string | undefined {
  const digits = Math.min(precision ?? DEFAULT_PRECISION, MAX_DIGITS);
  switch (verb) {
    case 'v':
    case 'g':
    case 'G': {
      const text = precision === undefined ? shortest(value) : general(value, Math.max(digits, 1));
      return verb === 'G' ? text.toUpperCase() : text;
    }
    case 'f':
    case 'F':
      return value < 1e21 ? value.toFixed(digits) : `${BigInt(value)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`;
    case 'e':
    case 'E': {
      const [mantissa = '', power = '0'] = value.toExponential(digits).split('e');
      const text = withExponent(mantissa, Number(power));
      return verb === 'E' ? text.toUpperCase() : text;
    }
    default:
      return undefined;
  }
}

/** Formats a float with this number of significant digits, without zeros at the end. */
function general(value: number, digits: number): string {
  const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  const trim = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  if (exponent < -4 || exponent >= digits) return withExponent(trim(mantissa), exponent);
  return trim(value.toFixed(Math.max(digits - 1 - exponent, 0)));
}

function padded(text: string, { width = 0, flags, verb }: Layout): string {
  // A character has at most two units.
  const missing = text.length >= 2 * width ? 0 : width - Array.from(text).length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  return (flags.includes('0') && 'svqxX'.includes(verb) ? '0' : ' ').repeat(missing) + text;
}

const described = (arg: Value, budget: Budget): string =>
  arg === undefined || arg === null ? '<nil>' : `${typeOf(arg)}=${formatted(arg, budget)}`;

const bad = (arg: Value, verb: string, budget: Budget): string => `%!${verb}(${described(arg, budget)})`;

/** The arguments of a format, in the order in which its verbs take them. */
class Arguments {
  /** Whether the current verb names an argument that does not exist. */
  isBad = false;
  readonly #args: readonly Value[];
  #index = 0;
  #isReordered = false;

  constructor(args: readonly Value[]) {
    this.#args = args;
  }

  get isAtEnd(): boolean {
    return this.#index >= this.#args.length;
  }

  /** Moves to an argument by its number, `[2]`. */
  moveTo(index: string | undefined): void {
    if (index === undefined) return;
    this.#isReordered = true;
    const wanted = Number(index.slice(1, -1)) - 1;
    this.isBad ||= wanted < 0 || wanted >= this.#args.length;
    if (!this.isBad) this.#index = wanted;
  }

  next(): Value {
    this.#index += 1;
    return this.#args[this.#index - 1];
  }

  /** Takes the next argument as a width or a precision; undefined when it is not a valid one. */
  size(): number | undefined {
    const arg = this.isAtEnd ? undefined : this.next();
    if (!(arg instanceof GoNumber) || typeof arg.value !== 'bigint') return undefined;
    const size = Number(arg.value);
    return Math.abs(size) <= MAX_WIDTH ? size : undefined;
  }

  unused(): readonly Value[] {
    return this.#isReordered ? [] : this.#args.slice(this.#index);
  }
}
