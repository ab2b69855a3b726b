import { readCommandLine } from './command-line.ts';
import type { Mistake } from './config-error.ts';
import { readConfigFile } from './config-file.ts';
import type { FlagTable } from './flag.ts';
import { findVariable } from './flag-variables.ts';
import type { ConfigWarning, Program, Sources } from './program.ts';

/** What the command line, the environment and the configuration file contain, before any value is parsed. */
export interface SettingSources {
  /** The texts of each flag on the command line, in order. */
  given: ReadonlyMap<string, string[]>;
  /** The settings of the file, by their keys in lower case. */
  settings: ReadonlyMap<string, unknown>;
  /** The configuration file. */
  path: string;
  /** Keys that the file has more than once. */
  repeated: ReadonlySet<string>;
  /** Truth values that follow a flag which takes its value after an equals sign. */
  strays: readonly string[];
  formerNameWarnings: readonly ConfigWarning[];
  variableOf(name: string): { variable: string; text: string } | undefined;
}

/**
 * Reads the sources of the settings. Adds the mistakes of the command line and of the file itself to `mistakes`. Returns undefined
 * when the help was asked for.
 */
export function readSources(
  program: Pick<Program<FlagTable, unknown>, 'environmentPrefix' | 'flags'>,
  { argv, env, readFile }: Sources,
  mistakes: Mistake[],
): SettingSources | undefined {
  const { flags } = program;
  const commandLineMistakes: Mistake[] = [];
  const { given, wantsHelp, strays, failsBeforeFile } = readCommandLine(flags, argv, commandLineMistakes);
  if (wantsHelp) return undefined;
  const variableOf = (name: string) => findVariable(program, env, name);
  const namedFile = given.get('config-file')?.at(-1) ?? variableOf('config-file')?.text;
  const path = namedFile ?? flags['config-file'].fallback;
  const { settings, repeated } = readConfigFile({ path, isNamed: namedFile !== undefined, readFile }, mistakes);
  // The mistake that the reference reports, which reports only one, comes first.
  mistakes[failsBeforeFile ? 'unshift' : 'push'](...commandLineMistakes);
  const formerNameWarnings = renameFormerNames(flags, given, settings);
  return { given, settings, path, repeated, strays, formerNameWarnings, variableOf };
}

/** Moves values from a former name to the current one, which wins if both are given. */
function renameFormerNames(
  flags: FlagTable,
  given: Map<string, string[]>,
  settings: Map<string, unknown>,
): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const rename = <V>(source: Map<string, V>, name: string, formerName: string, message: string): void => {
    const value = source.get(formerName);
    if (value === undefined) return;
    source.delete(formerName);
    if (!source.has(name)) source.set(name, value);
    warnings.push({ message, fields: {} });
  };
  for (const [name, { formerName }] of Object.entries(flags)) {
    if (formerName === undefined) continue;
    rename(given, name, formerName, `flag --${formerName} has been deprecated, please use --${name} instead`);
    rename(
      settings,
      name,
      formerName,
      `config attribute ${formerName} has been deprecated, please use ${name} instead`,
    );
  }
  return warnings;
}
