import { parseDurationMs } from '../../resources/duration.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

export const DEFAULT_LOG_LEVEL: LogLevel = 'warn';

/** The syntax of a flag's value. All functions throw `InvalidValue`. */
export interface Kind<T> {
  /** The placeholder of the value in the usage text; none for a flag without a value. */
  placeholder: string | undefined;
  /** Every occurrence on the command line, in order; one for the environment. */
  fromTexts(texts: readonly string[]): T;
  fromFile?(value: unknown): T;
  /** Replaces `fromTexts` when the syntax of the variable differs from that of the flag. */
  fromVariable?(text: string): T;
  /** Formats the default in the usage text, if it is not the plain value. */
  show?(value: T): string;
}

/** The message is the rule that the value breaks. `complete` is true when the message contains the value. */
export class InvalidValue extends Error {
  readonly complete: boolean;

  constructor(rule: string, complete = false) {
    super(rule);
    this.complete = complete;
  }
}

const LEVELS: Record<string, LogLevel> = {
  panic: 'fatal',
  fatal: 'fatal',
  error: 'error',
  warn: 'warn',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
  trace: 'trace',
};

function scalar<T>(placeholder: string | undefined, parse: (text: string) => T): Kind<T> {
  return { placeholder, fromTexts: (texts) => parse(texts.at(-1) ?? '') };
}

/** Splits one record of comma-separated values. Double quotes protect commas; a doubled quote is a literal one. */
function splitRecord(record: string): string[] {
  const items: string[] = [];
  for (const [, quoted, plain] of record.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"(?=,|$)|([^,]*))/g)) {
    if (plain?.includes('"')) throw new InvalidValue('must not have a bare " in an item without quotes');
    const item = quoted?.replaceAll('""', '"') ?? plain ?? '';
    if (item !== '') items.push(item);
  }
  return items;
}

const splitLoosely = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== '');

function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals < 0) throw new InvalidValue(`${text} must be formatted as key=value`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function textMapOf(value: unknown): Record<string, string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new InvalidValue('must be a map');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, textOf(key, item)]));
}

/** A value that is missing is an empty text. */
function textOf(key: string, value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new InvalidValue(`${key} must be a single value`);
}

const inLowerCase = (map: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key.toLowerCase(), value]));

const UNIT_BYTES: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  kib: 2 ** 10,
  m: 1e6,
  mb: 1e6,
  mib: 2 ** 20,
  g: 1e9,
  gb: 1e9,
  gib: 2 ** 30,
  t: 1e12,
  tb: 1e12,
  tib: 2 ** 40,
};

/** Formats bytes with the largest decimal unit that gives a whole number. */
function textOfBytes(bytes: number): string {
  const unit = (['TB', 'GB', 'MB', 'kB'] as const).find(
    (name) => bytes > 0 && bytes % (UNIT_BYTES[name.toLowerCase()] ?? 1) === 0,
  );
  return unit === undefined ? String(bytes) : `${bytes / (UNIT_BYTES[unit.toLowerCase()] ?? 1)} ${unit}`;
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidValue(`must be a JSON object or key=value pairs: ${(error as Error).message}`);
  }
}

const map: Kind<Record<string, string>> = {
  placeholder: 'key=value,...',
  fromTexts(texts) {
    const pairs = texts.flatMap((text) => {
      if (text.trimStart().startsWith('{')) return Object.entries(textMapOf(parseObject(text)));
      const items = text.split('=').length === 2 ? [text] : splitRecord(text);
      return (items.length === 0 ? [text] : items).map(pairOf);
    });
    return Object.fromEntries(pairs);
  },
  fromFile: textMapOf,
  show: () => '',
};

/** A map of the agent: keys from the file are in lower case, because filters rely on it. Source: spec/03 2.4. */
const mapWithLowerCaseFileKeys: Kind<Record<string, string>> = {
  ...map,
  fromFile: (value) => inLowerCase(textMapOf(value)),
};

/** The kinds of values. Durations are in milliseconds. */
export const kinds = {
  text: scalar('text', (text) => text),
  boolean: scalar(undefined, (text) => {
    if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
    if (/^(0|f|F|FALSE|false|False)$/.test(text)) return false;
    throw new InvalidValue('must be true or false');
  }),
  integer: (min: number, max: number, rule = `must be a whole number from ${min} to ${max}`) =>
    scalar('number', (text) => {
      const value = Number(text);
      if (!/^[+-]?\d+$/.test(text) || value < min || value > max) {
        throw new InvalidValue(rule);
      }
      return value;
    }),
  decimal: (min: number) =>
    scalar('number', (text) => {
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
      if (!isNumber || Number(text) < min) {
        throw new InvalidValue(`must be a number not below ${min}`);
      }
      return Number(text);
    }),
  oneOf: <W extends string>(choices: readonly W[]) =>
    scalar(choices.join('|'), (text) => {
      const choice = choices.find((candidate) => candidate === text);
      if (choice === undefined) throw new InvalidValue(`must be one of ${choices.join(', ')}`);
      return choice;
    }),
  logLevel: scalar('level', (text) => {
    const level = Object.hasOwn(LEVELS, text.toLowerCase()) ? LEVELS[text.toLowerCase()] : undefined;
    if (level === undefined) throw new InvalidValue(`not a valid log level: "${text}"`, true);
    return level;
  }),
  /** A size such as `128 MB` or `1 GiB`; without a unit in bytes. */
  bytes: {
    ...scalar('size', (text) => {
      const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
      const factor = Object.hasOwn(UNIT_BYTES, unit.toLowerCase()) ? UNIT_BYTES[unit.toLowerCase()] : undefined;
      const bytes = Math.round(Number(amount) * (factor ?? NaN));
      if (amount === '' || !Number.isSafeInteger(bytes)) {
        throw new InvalidValue('must be a size, for example 128 MB, 1 GiB or a number of bytes');
      }
      return bytes;
    }),
    show: textOfBytes,
  },
  duration: ({ bareSeconds = false } = {}) => ({
    ...scalar('duration', (text) => {
      if (/^\d+(\.\d+)?$/.test(text) && (bareSeconds || Number(text) === 0)) return Number(text) * 1000;
      if (/^\d+(\.\d+)?$/.test(text)) throw new InvalidValue(`time: missing unit in duration "${text}"`);
      const durationMs = parseDurationMs(text);
      if (durationMs === undefined) throw new InvalidValue('must be a duration with a unit, for example 15s or 1m30s');
      return durationMs;
    }),
    show: (valueMs: number) => `${valueMs / 1000}s`,
  }),
  list: {
    placeholder: 'a,b,...',
    fromTexts: (texts) => texts.flatMap(splitRecord),
    fromVariable: splitLoosely,
    fromFile(value) {
      if (typeof value === 'string') return splitLoosely(value);
      const items: unknown[] = Array.isArray(value) ? value : [value];
      if (items.some((item) => typeof item === 'object')) throw new InvalidValue('must be a list of strings');
      return items.map(String);
    },
  } satisfies Kind<string[]> as Kind<string[]>,
  map,
  mapWithLowerCaseFileKeys,
};
