import { readCommandLine } from './command-line.ts';
import { ConfigError, type Mistake } from './config-error.ts';
import { readConfigFile } from './config-file.ts';
import { InvalidValue, type Kind } from './flag-kinds.ts';
import { effectiveSettings, type GivenSetting, PRINT_CONFIG } from './effective-settings.ts';
import type { Flag, FlagTable, FlagValues } from './flag.ts';
import { helpOf } from './help.ts';
import { suggestion } from './suggestion.ts';

export { ConfigError, type Mistake } from './config-error.ts';
export { type Flag, type FlagValues, grouped, withoutEffect } from './flag.ts';
export { DEFAULT_LOG_LEVEL, InvalidValue, kinds, type LogLevel } from './flag-kinds.ts';

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
  /** Whether the warning about settings without effect is left to another command with the same file and environment. */
  sharesSettings?: boolean;
  rules: readonly Rule<F>[];
  /** Builds the configuration, and warns of values that are valid but risky. */
  build(values: FlagValues<F>, warn: (warning: ConfigWarning) => void, isGiven: (name: keyof F & string) => boolean): T;
}

/** The sources of settings. `readFile` throws as `fs.readFileSync` does. */
export interface Sources {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): string;
  /** The width of the terminal that shows the help; undefined when the output is not a terminal. */
  columns?: number | undefined;
}

export interface ConfigWarning {
  message: string;
  fields: Record<string, unknown>;
}

/** `help` is a text that is printed in place of running the program: its help, or the settings that `--print-config` asks for. */
export type Parsed<T> = { readonly help: string } | { readonly config: T; readonly warnings: readonly ConfigWarning[] };

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
  const mistakes: Mistake[] = [];
  const mistakesOfLine: Mistake[] = [];
  const warnings: ConfigWarning[] = [];
  const spelledAsVariable = (name: string): string =>
    program.environmentPrefix + name.toUpperCase().replaceAll('-', '_');
  const { given, wantsHelp, strays, failsBeforeFile } = readCommandLine(flags, sources.argv, mistakesOfLine);
  if (wantsHelp) {
    const { usage } = program;
    return { help: helpOf({ usage, flags, variableOf: spelledAsVariable, columns: sources.columns }) };
  }

  for (const stray of strays) {
    const message = 'ignoring a value after a flag without one, write it with an equals sign';
    warnings.push({ message, fields: { argument: stray, example: `--flag=${stray}` } });
  }

  const variableOf = (name: string): string | undefined =>
    [name, flags[name]?.formerName ?? [], flags[name]?.otherVariables ?? []]
      .flat()
      .map(spelledAsVariable)
      .find((variable) => sources.env[variable] !== undefined && sources.env[variable] !== '');
  const configVariable = variableOf('config-file');
  const namedFile = given.get('config-file')?.at(-1) ?? (configVariable && sources.env[configVariable]);
  const path = namedFile ?? flags['config-file'].fallback;
  const { readFile } = sources;
  const { settings, repeated } = readConfigFile({ path, isNamed: namedFile !== undefined, readFile }, mistakes);
  // The first line of several is the one that people search for.
  mistakes[failsBeforeFile ? 'unshift' : 'push'](...mistakesOfLine);
  warnings.push(...takeFormerNames(flags, given, settings));
  for (const key of repeated) {
    const message = 'repeated key in the configuration file, only one of its values counts';
    warnings.push({ message, fields: { key, file: path } });
  }
  const known = [...new Set([...Object.keys(flags), ...(program.keysOfOthers ?? [])])];
  for (const key of settings.keys()) {
    if (known.includes(key)) continue;
    const meant = suggestion(key, known);
    const fields = { key, file: path, ...(meant === undefined ? {} : { suggestion: meant }) };
    warnings.push({ message: 'unknown key in the configuration file', fields });
  }
  const hasSetting = (name: string): boolean => (settings.get(name) ?? null) !== null;
  // The other commands share the file and the environment with `start`, which logs the warning.
  const isGiven = (name: string): boolean =>
    given.has(name) || (program.sharesSettings !== true && (hasSetting(name) || variableOf(name) !== undefined));
  const ignored = Object.entries<Flag<unknown>>(flags).filter(
    ([name, flag]) => flag.withoutEffect !== undefined && isGiven(name),
  );
  const withoutEffect = Object.fromEntries(ignored.map(([name, flag]) => [name, flag.withoutEffect]));
  if (hasSetting('config-file')) withoutEffect['config-file'] = 'the file that is read cannot name another one';
  if (Object.keys(withoutEffect).length > 0) {
    warnings.push({ message: 'settings without effect', fields: withoutEffect });
  }

  const failed = new Set<string>();
  const settingsGiven = new Map<string, GivenSetting>();
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
        settingsGiven.set(name, { value: onLine.join(), source: `flag --${name}` });
        return flag.kind.fromTexts(onLine);
      }
      if (text !== undefined) {
        [shown, where] = [text, `for "--${name}" in ${variable}`];
        settingsGiven.set(name, { value: text, source: `variable ${variable}` });
        return flag.kind.fromVariable?.(text) ?? flag.kind.fromTexts([text]);
      }
      if (setting === undefined || setting === null || name === 'config-file') return flag.fallback;
      [shown, where] = [setting, `for "--${name}" in ${path}`];
      settingsGiven.set(name, { value: setting, source: `file ${path}` });
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
  if ((values as Record<string, unknown>)[PRINT_CONFIG] === true)
    return { help: effectiveSettings(flags, values, settingsGiven) };
  return {
    config: program.build(
      values,
      (warning) => warnings.push(warning),
      (name) => settingsGiven.has(name),
    ),
    warnings,
  };
}
