import { Command, CommanderError, Option } from 'commander';
import { parseAllDocuments } from 'yaml';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** How the value of a flag is written. All functions throw `InvalidValue`. */
interface Kind<T> {
  /** Stands for the value in the usage text; none for a flag that is true by being there. */
  placeholder: string | undefined;
  /** Every occurrence on the command line, in order; one for the environment. */
  fromTexts(texts: readonly string[]): T;
  fromFile?(value: unknown): T;
  /** A default in the usage text, when it is not the plain value. */
  show?(value: T): string;
}

export interface Flag<T> {
  kind: Kind<T>;
  fallback: T;
  about: string;
  short?: string;
  /** Further variables, without the prefix of the program, that count when the regular one is unset. */
  alsoEnvironment?: readonly string[];
  /** The value is never shown, not even when it is wrong. */
  secret?: boolean;
}

type FlagTable = Record<string, Flag<unknown>> & { 'config-file': Flag<string> };
export type FlagValues<F> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

/** A rule of one value or between several; not judged when one of `flags` has no usable value. */
interface Rule<F> {
  flags: readonly (keyof F & string)[];
  broken(values: FlagValues<F>): string | undefined;
}

export interface Program<F extends FlagTable, T> {
  usage: string;
  environmentPrefix: string;
  flags: F;
  /** Keys of the same file that are flags of another command: no warning for them. */
  keysOfOthers?: readonly string[];
  rules: readonly Rule<F>[];
  /** Also states, as warnings, what is allowed but unwise. */
  build(values: FlagValues<F>, warn: (warning: ConfigWarning) => void): T;
}

/** Where settings come from. `readFile` throws as `fs.readFileSync` does. */
export interface Sources {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): string;
}

export interface Mistake {
  /** Without dashes; undefined for what is no flag of the program. */
  flag: string | undefined;
  rule: string;
}

export interface ConfigWarning {
  message: string;
  fields: Record<string, unknown>;
}

export type Parsed<T> = { readonly help: string } | { readonly config: T; readonly warnings: readonly ConfigWarning[] };

/** Everything that is wrong with the settings, at once. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ rule }) => rule).join('; '));
    this.mistakes = mistakes;
  }
}

/** The message is the rule. `complete` when it already shows the value. */
export class InvalidValue extends Error {
  readonly complete: boolean;

  constructor(rule: string, complete = false) {
    super(rule);
    this.complete = complete;
  }
}

const UNITS_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
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

/** One record of comma-separated values; double quotes protect commas, a doubled one stands for itself. */
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
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidValue(`must be a JSON object or key=value pairs: ${(error as Error).message}`);
  }
}

/** The kinds of value. Durations come out in milliseconds. */
export const kinds = {
  text: scalar('text', (text) => text),
  boolean: scalar(undefined, (text) => {
    if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
    if (/^(0|f|F|FALSE|false|False)$/.test(text)) return false;
    throw new InvalidValue('must be true or false');
  }),
  integer: (min: number, max: number) =>
    scalar('number', (text) => {
      const value = Number(text);
      if (!/^[+-]?\d+$/.test(text) || value < min || value > max) {
        throw new InvalidValue(`must be a whole number from ${min} to ${max}`);
      }
      return value;
    }),
  word: <W extends string>(words: readonly W[]) =>
    scalar(words.join('|'), (text) => {
      const word = words.find((candidate) => candidate === text);
      if (word === undefined) throw new InvalidValue(`must be one of ${words.join(', ')}`);
      return word;
    }),
  logLevel: scalar('level', (text) => {
    const level = Object.hasOwn(LEVELS, text.toLowerCase()) ? LEVELS[text.toLowerCase()] : undefined;
    if (level === undefined) throw new InvalidValue(`not a valid log level: "${text}"`, true);
    return level;
  }),
  duration: ({ bareSeconds = false } = {}) => ({
    ...scalar('duration', (text) => {
      if (/^\d+(\.\d+)?$/.test(text) && (bareSeconds || Number(text) === 0)) return Number(text) * 1000;
      const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
      if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
        throw new InvalidValue('must be a duration with a unit, for example 15s or 1m30s');
      }
      return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS_MS[unit ?? ''] ?? 0), 0);
    }),
    show: (valueMs: number) => `${valueMs / 1000}s`,
  }),
  list: {
    placeholder: 'a,b,...',
    fromTexts: (texts) => texts.flatMap(splitRecord),
    fromFile(value) {
      if (typeof value === 'string') return splitLoosely(value);
      const items: unknown[] = Array.isArray(value) ? value : [value];
      if (items.some((item) => typeof item === 'object')) throw new InvalidValue('must be a list of texts');
      return items.map(String);
    },
  } satisfies Kind<string[]> as Kind<string[]>,
  map: {
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
  } satisfies Kind<Record<string, string>> as Kind<Record<string, string>>,
};

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, letter] of Array.from(a).entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const nearest = (name: string, names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => distance(name, a) - distance(name, b))[0];

function describeFallback(flag: Flag<unknown>): string {
  if (flag.secret || flag.fallback === false) return '';
  const text = flag.kind.show?.(flag.fallback) ?? String(flag.fallback);
  return text === '' ? '' : ` (default ${text})`;
}

function commandOf<F extends FlagTable>({ usage, flags }: Program<F, unknown>): Command {
  const [name, ...rest] = usage.split(' ');
  const command = new Command(name).usage([...rest, '[flags]'].join(' ')).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  command.helpOption('-h, --help', 'show this text');
  for (const [long, flag] of Object.entries<Flag<unknown>>(flags)) {
    const { placeholder } = flag.kind;
    const spelling = `${flag.short === undefined ? '' : `-${flag.short}, `}--${long}`;
    const syntax = placeholder === undefined ? spelling : `${spelling} <${placeholder}>`;
    command.addOption(new Option(syntax, flag.about + describeFallback(flag)));
  }
  return command;
}

/** The texts of each flag on the command line, and what is wrong with the line as such. */
function readCommandLine(command: Command, flags: FlagTable, argv: readonly string[], mistakes: Mistake[]) {
  const given = new Map<string, string[]>();
  const add = (name: string, text: string): void => {
    given.set(name, [...(given.get(name) ?? []), text]);
  };
  for (const name of Object.keys(flags)) command.on(`option:${name}`, (text?: string) => add(name, text ?? 'true'));
  let left: { operands: string[]; unknown: string[] } = { operands: [], unknown: [] };
  try {
    left = command.parseOptions([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Only the last word can lack its value; the words before it are still judged.
    const last = argv.at(-1)?.replace(/^-+/, '');
    const flag = Object.keys(flags).find((name) => name === last || flags[name]?.short === last);
    mistakes.push({ flag, rule: `flag needs an argument: --${flag ?? last}` });
    given.clear();
    left = command.parseOptions(argv.slice(0, -1));
  }
  for (const operand of left.operands) mistakes.push({ flag: undefined, rule: `unexpected argument "${operand}"` });
  for (const [index, word] of left.unknown.entries()) {
    const [, long, text] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    const isFlag = word.length > 1 && word.startsWith('-');
    if (long !== undefined && Object.hasOwn(flags, long)) add(long, text ?? '');
    else if (word.startsWith('--')) mistakes.push({ flag: undefined, rule: `unknown flag: ${word.split('=', 1)[0]}` });
    else if (isFlag) mistakes.push({ flag: undefined, rule: `unknown shorthand flag: '${word[1]}' in ${word}` });
    else if (!left.unknown[index - 1]?.startsWith('-')) {
      mistakes.push({ flag: undefined, rule: `unexpected argument "${word}"` });
    }
  }
  return { given, wantsHelp: left.unknown.includes('-h') || left.unknown.includes('--help') };
}

/** The settings of the file, keys in lower case. */
function readConfigFile(path: string, named: boolean, sources: Sources, mistakes: Mistake[]): Map<string, unknown> {
  const settings = new Map<string, unknown>();
  try {
    const [document] = parseAllDocuments(sources.readFile(path), { uniqueKeys: false });
    if (document === undefined || !('errors' in document)) return settings;
    if (document.errors[0] !== undefined) throw document.errors[0];
    const value = document.toJS() as unknown;
    if (value === null || value === undefined) return settings;
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error('must be a map of flag names to values');
    for (const [key, setting] of Object.entries(value)) settings.set(key.toLowerCase(), setting);
  } catch (error) {
    if (!named && (error as NodeJS.ErrnoException).code === 'ENOENT') return settings;
    mistakes.push({ flag: 'config-file', rule: `${path}: ${(error as Error).message}` });
  }
  return settings;
}

function fromFile<T>(kind: Kind<T>, value: unknown): T {
  if (kind.fromFile !== undefined) return kind.fromFile(value);
  if (value !== null && typeof value === 'object') throw new InvalidValue('must be a single value');
  return kind.fromTexts([String(value)]);
}

/** Flag over environment over file over default. @throws ConfigError with all mistakes */
export function parseFlags<F extends FlagTable, T>(program: Program<F, T>, sources: Sources): Parsed<T> {
  const { flags } = program;
  const names = Object.keys(flags);
  const mistakes: Mistake[] = [];
  const warnings: ConfigWarning[] = [];
  const command = commandOf(program);
  const { given, wantsHelp } = readCommandLine(command, flags, sources.argv, mistakes);
  if (wantsHelp) return { help: command.helpInformation() };

  const variableOf = (name: string): string | undefined =>
    [name.toUpperCase().replaceAll('-', '_'), ...(flags[name]?.alsoEnvironment ?? [])]
      .map((variable) => program.environmentPrefix + variable)
      .find((variable) => sources.env[variable] !== undefined && sources.env[variable] !== '');
  const configVariable = variableOf('config-file');
  const namedFile = given.get('config-file')?.at(-1) ?? (configVariable && sources.env[configVariable]);
  const path = namedFile ?? flags['config-file'].fallback;
  const settings = readConfigFile(path, namedFile !== undefined, sources, mistakes);
  for (const key of settings.keys()) {
    if (Object.hasOwn(flags, key) || program.keysOfOthers?.includes(key)) continue;
    const fields = { key, file: path, nearest: nearest(key, names) };
    warnings.push({ message: 'unknown key in the configuration file', fields });
  }

  const failed = new Set<string>();
  const valueOf = (name: string, flag: Flag<unknown>): unknown => {
    const variable = variableOf(name);
    const text = variable === undefined ? undefined : sources.env[variable];
    const onLine = given.get(name);
    const setting = settings.get(name);
    let shown: unknown;
    let where = '';
    try {
      if (onLine !== undefined) {
        [shown, where] = [onLine.at(-1), `for "--${name}" flag`];
        return flag.kind.fromTexts(onLine);
      }
      if (text !== undefined) {
        [shown, where] = [text, `for "--${name}" in ${variable}`];
        return flag.kind === kinds.list ? splitLoosely(text) : flag.kind.fromTexts([text]);
      }
      if (setting === undefined || setting === null || name === 'config-file') return flag.fallback;
      [shown, where] = [setting, `for "--${name}" in ${path}`];
      return fromFile(flag.kind, setting);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      failed.add(name);
      const value = flag.secret ? 'REDACTED' : typeof shown === 'string' ? shown : JSON.stringify(shown);
      const rule = error.complete ? error.message : `invalid argument "${value}" ${where}: ${error.message}`;
      mistakes.push({ flag: name, rule });
      return flag.fallback;
    }
  };
  const entries = Object.entries<Flag<unknown>>(flags).map(([name, flag]) => [name, valueOf(name, flag)]);
  const values = Object.freeze(Object.fromEntries(entries)) as FlagValues<F>;
  for (const rule of program.rules) {
    if (rule.flags.some((name) => failed.has(name))) continue;
    const broken = rule.broken(values);
    if (broken !== undefined) mistakes.push({ flag: rule.flags[0], rule: broken });
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { config: program.build(values, (warning) => warnings.push(warning)), warnings };
}
