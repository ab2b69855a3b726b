import { Command, CommanderError, Option } from 'commander';
import { parseAllDocuments } from 'yaml';
import { InvalidValue, type Kind } from './flag-kinds.ts';

export { InvalidValue, kinds, type LogLevel } from './flag-kinds.ts';

export interface Flag<T> {
  kind: Kind<T>;
  fallback: T;
  about: string;
  short?: string;
  /** Other environment variables, without the prefix of the program. They apply when the regular one is unset. */
  otherVariables?: readonly string[];
  /** A name of earlier versions, accepted with a warning when the regular one is not given. */
  formerName?: string;
  /** Whether messages hide the value, even when it is invalid. */
  secret?: boolean;
}

type FlagTable = Record<string, Flag<unknown>> & { 'config-file': Flag<string> };
export type FlagValues<F> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

/** A rule for one value or several. It is not checked when one of `flags` has no valid value. */
export interface Rule<F> {
  flags: readonly (keyof F & string)[];
  broken(values: FlagValues<F>): string | undefined;
}

export interface Program<F extends FlagTable, T> {
  usage: string;
  environmentPrefix: string;
  flags: F;
  /** Keys of the same file that are flags of other commands, and cause no warning. */
  keysOfOthers?: readonly string[];
  rules: readonly Rule<F>[];
  /** Builds the configuration, and warns of values that are valid but risky. */
  build(values: FlagValues<F>, warn: (warning: ConfigWarning) => void): T;
}

/** The sources of settings. `readFile` throws as `fs.readFileSync` does. */
export interface Sources {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): string;
}

export interface Mistake {
  /** The flag without dashes; undefined for anything that is not a flag of the program. */
  flag: string | undefined;
  rule: string;
}

export interface ConfigWarning {
  message: string;
  fields: Record<string, unknown>;
}

export type Parsed<T> = { readonly help: string } | { readonly config: T; readonly warnings: readonly ConfigWarning[] };

/** All mistakes in the settings. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ rule }) => rule).join('; '));
    this.mistakes = mistakes;
  }
}

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
    if (flag.formerName !== undefined)
      command.addOption(new Option(`--${flag.formerName} <${placeholder}>`).hideHelp());
  }
  return command;
}

/** Reads the texts of each flag on the command line, and adds the mistakes of the line itself. */
function readCommandLine(command: Command, flags: FlagTable, argv: readonly string[], mistakes: Mistake[]) {
  const given = new Map<string, string[]>();
  const add = (name: string, text: string): void => {
    given.set(name, [...(given.get(name) ?? []), text]);
  };
  const names = Object.entries(flags).flatMap(([name, { formerName }]) => [name, ...(formerName ? [formerName] : [])]);
  for (const name of names) command.on(`option:${name}`, (text?: string) => add(name, text ?? 'true'));
  let left: { operands: string[]; unknown: string[] } = { operands: [], unknown: [] };
  try {
    left = command.parseOptions([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Only the last argument can lack its value; those before it are still checked.
    const last = argv.at(-1)?.replace(/^-+/, '');
    const flag = Object.keys(flags).find((name) => name === last || flags[name]?.short === last);
    mistakes.push({ flag, rule: `flag needs an argument: --${flag ?? last}` });
    given.clear();
    left = command.parseOptions(argv.slice(0, -1));
  }
  for (const operand of left.operands) mistakes.push({ flag: undefined, rule: `unexpected argument "${operand}"` });
  for (const [index, argument] of left.unknown.entries()) {
    const [, long, text] = /^--([^=]+)=(.*)$/s.exec(argument) ?? [];
    const isFlag = argument.length > 1 && argument.startsWith('-');
    if (long !== undefined && Object.hasOwn(flags, long)) add(long, text ?? '');
    else if (argument.startsWith('--'))
      mistakes.push({ flag: undefined, rule: `unknown flag: ${argument.split('=', 1)[0]}` });
    else if (isFlag)
      mistakes.push({ flag: undefined, rule: `unknown shorthand flag: '${argument[1]}' in ${argument}` });
    else if (!left.unknown[index - 1]?.startsWith('-')) {
      mistakes.push({ flag: undefined, rule: `unexpected argument "${argument}"` });
    }
  }
  return { given, wantsHelp: left.unknown.includes('-h') || left.unknown.includes('--help') };
}

/** Reads the settings of the file, with keys in lower case. */
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

/** Moves values from a former name to the current one, which wins if both are given. */
function takeFormerNames(flags: FlagTable, given: Map<string, string[]>, settings: Map<string, unknown>) {
  const warnings: ConfigWarning[] = [];
  const take = <V>(source: Map<string, V>, name: string, formerName: string, message: string): void => {
    const value = source.get(formerName);
    if (value === undefined) return;
    source.delete(formerName);
    if (!source.has(name)) source.set(name, value);
    warnings.push({ message, fields: {} });
  };
  for (const [name, { formerName }] of Object.entries(flags)) {
    if (formerName === undefined) continue;
    take(given, name, formerName, `flag --${formerName} has been deprecated, please use --${name} instead`);
    take(settings, name, formerName, `config attribute ${formerName} has been deprecated, please use ${name} instead`);
  }
  return warnings;
}

function fromFile<T>(kind: Kind<T>, value: unknown): T {
  if (kind.fromFile !== undefined) return kind.fromFile(value);
  if (value !== null && typeof value === 'object') throw new InvalidValue('must be a single value');
  return kind.fromTexts([String(value)]);
}

/** Parses the settings. A flag wins over the environment, then the file, then the default. @throws ConfigError with all mistakes */
export function parseFlags<F extends FlagTable, T>(program: Program<F, T>, sources: Sources): Parsed<T> {
  const { flags } = program;
  const names = Object.keys(flags);
  const mistakes: Mistake[] = [];
  const warnings: ConfigWarning[] = [];
  const command = commandOf(program);
  const { given, wantsHelp } = readCommandLine(command, flags, sources.argv, mistakes);
  if (wantsHelp) return { help: command.helpInformation() };

  const variableOf = (name: string): string | undefined =>
    [name, flags[name]?.formerName ?? [], flags[name]?.otherVariables ?? []]
      .flat()
      .map((spelling) => spelling.toUpperCase().replaceAll('-', '_'))
      .map((variable) => program.environmentPrefix + variable)
      .find((variable) => sources.env[variable] !== undefined && sources.env[variable] !== '');
  const configVariable = variableOf('config-file');
  const namedFile = given.get('config-file')?.at(-1) ?? (configVariable && sources.env[configVariable]);
  const path = namedFile ?? flags['config-file'].fallback;
  const settings = readConfigFile(path, namedFile !== undefined, sources, mistakes);
  warnings.push(...takeFormerNames(flags, given, settings));
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
        return flag.kind.fromVariable?.(text) ?? flag.kind.fromTexts([text]);
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
