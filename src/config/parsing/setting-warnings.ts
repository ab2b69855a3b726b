import type { Flag, FlagTable } from './flag.ts';
import type { ConfigWarning, Program } from './program.ts';
import type { SettingSources } from './setting-sources.ts';
import { suggestion } from './suggestion.ts';

type Warned = Pick<Program<FlagTable, unknown>, 'flags' | 'keysOfOthers' | 'sharesSettings'>;

/** Warns of settings that are ignored, or that have a former name. */
export function settingWarnings(program: Warned, sources: SettingSources): ConfigWarning[] {
  return [
    ...strayWarnings(sources),
    ...sources.formerNameWarnings,
    ...keyWarnings(program, sources),
    ...withoutEffectWarnings(program, sources),
  ];
}

const strayWarnings = ({ strays }: SettingSources): ConfigWarning[] =>
  strays.map((stray) => ({
    message: 'ignoring a value after a flag without one, write it with an equals sign',
    fields: { argument: stray, example: `--flag=${stray}` },
  }));

function keyWarnings({ flags, keysOfOthers = [] }: Warned, { settings, repeated, path }: SettingSources) {
  const warnings: ConfigWarning[] = [];
  for (const key of repeated) {
    const message = 'repeated key in the configuration file, only one of its values counts';
    warnings.push({ message, fields: { key, file: path } });
  }
  const known = [...new Set([...Object.keys(flags), ...keysOfOthers])];
  for (const key of settings.keys()) {
    if (known.includes(key)) continue;
    const meant = suggestion(key, known);
    const fields = { key, file: path, ...(meant === undefined ? {} : { suggestion: meant }) };
    warnings.push({ message: 'unknown key in the configuration file', fields });
  }
  return warnings;
}

/** One warning that names each setting without effect, with the reason. */
function withoutEffectWarnings(
  { flags, sharesSettings }: Warned,
  { given, settings, variableOf }: SettingSources,
): ConfigWarning[] {
  const hasSetting = (name: string): boolean => (settings.get(name) ?? null) !== null;
  // The other commands share the file and the environment with `start`, which logs the warning.
  const isGiven = (name: string): boolean =>
    given.has(name) || (sharesSettings !== true && (hasSetting(name) || variableOf(name) !== undefined));
  const ignored = Object.entries<Flag<unknown>>(flags).filter(
    ([name, flag]) => flag.withoutEffect !== undefined && isGiven(name),
  );
  const fields = Object.fromEntries(ignored.map(([name, flag]) => [name, flag.withoutEffect]));
  if (hasSetting('config-file')) fields['config-file'] = 'the file that is read cannot name another one';
  return Object.keys(fields).length > 0 ? [{ message: 'settings without effect', fields }] : [];
}
