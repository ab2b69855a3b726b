import { ConfigError, type Mistake } from './config-error.ts';
import { effectiveSettings, PRINT_CONFIG } from './effective-settings.ts';
import type { FlagTable, FlagValues } from './flag.ts';
import { variableName } from './flag-variables.ts';
import { helpOf } from './help.ts';
import type { Parsed, Program, Sources } from './program.ts';
import { readSources } from './setting-sources.ts';
import { parseValues } from './setting-values.ts';
import { settingWarnings } from './setting-warnings.ts';

export { ConfigError, type Mistake } from './config-error.ts';
export { type Flag, type FlagValues, grouped, withoutEffect } from './flag.ts';
export { DEFAULT_LOG_LEVEL, InvalidValue, kinds, type LogLevel } from './flag-kinds.ts';
export type { ConfigWarning, Parsed, Program, Rule, Sources } from './program.ts';

/** Parses the settings. A flag wins over the environment, then the file, then the default. @throws ConfigError with all mistakes */
export function parseFlags<F extends FlagTable, T>(program: Program<F, T>, sources: Sources): Parsed<T> {
  const { usage, flags } = program;
  const mistakes: Mistake[] = [];
  const read = readSources(program, sources, mistakes);
  if (read === undefined) {
    const variableOf = (name: string): string => variableName(program, name);
    return { help: helpOf({ usage, flags, variableOf, columns: sources.columns }) };
  }
  const warnings = settingWarnings(program, read);
  const parsed = parseValues(flags, read, mistakes);
  const values = parsed.values as FlagValues<F>;
  for (const rule of program.rules) {
    if (rule.flags.some((name) => parsed.failed.has(name))) continue;
    const broken = rule.broken(values);
    if (broken !== undefined) mistakes.push({ flag: rule.flags[0], rule: broken });
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const config = program.build(
    values,
    (warning) => warnings.push(warning),
    (name) => parsed.given.has(name),
  );
  if (parsed.values[PRINT_CONFIG] !== true) return { config, warnings };
  return { help: effectiveSettings(flags, parsed.values, parsed.given), warnings };
}
