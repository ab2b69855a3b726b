import type { Mistake } from './config-error.ts';
import type { GivenSetting } from './effective-settings.ts';
import type { Flag, FlagTable } from './flag.ts';
import { InvalidValue } from './flag-kinds.ts';
import type { SettingSources } from './setting-sources.ts';

interface SettingValues {
  /** The value of each flag; the default of a flag whose setting is invalid. */
  values: Readonly<Record<string, unknown>>;
  /** The settings that are not defaults. */
  given: ReadonlyMap<string, GivenSetting>;
  /** The flags whose settings are invalid. */
  failed: ReadonlySet<string>;
}

/** A setting of one flag as it was given, before it is parsed. */
interface RawSetting {
  given: GivenSetting;
  /** The value that messages show, and where it is. */
  shown: unknown;
  where: string;
  parse(): unknown;
}

/** Parses the value of each flag: its flag wins over its variable, then the file, then the default. Adds invalid values to `mistakes`. */
export function parseValues(flags: FlagTable, sources: SettingSources, mistakes: Mistake[]): SettingValues {
  const given = new Map<string, GivenSetting>();
  const failed = new Set<string>();
  const valueOf = (name: string, flag: Flag<unknown>): unknown => {
    const raw = rawSetting(name, flag, sources);
    if (raw === undefined) return flag.fallback;
    given.set(name, raw.given);
    try {
      return raw.parse();
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      failed.add(name);
      mistakes.push({ flag: name, rule: describeInvalid(error, flag, raw) });
      return flag.fallback;
    }
  };
  const entries = Object.entries<Flag<unknown>>(flags).map(([name, flag]) => [name, valueOf(name, flag)]);
  return { values: Object.freeze(Object.fromEntries(entries)), given, failed };
}

function rawSetting(name: string, { kind }: Flag<unknown>, sources: SettingSources): RawSetting | undefined {
  const texts = sources.given.get(name);
  if (texts !== undefined) {
    return {
      given: { value: texts.join(), source: `flag --${name}` },
      shown: texts.at(-1),
      where: `for "--${name}" flag`,
      parse: () => kind.fromTexts(texts),
    };
  }
  const set = sources.variableOf(name);
  if (set !== undefined) {
    const { variable, text } = set;
    return {
      given: { value: text, source: `variable ${variable}` },
      shown: text,
      where: `for "--${name}" in ${variable}`,
      parse: () => kind.fromVariable?.(text) ?? kind.fromTexts([text]),
    };
  }
  const setting = sources.settings.get(name);
  if (setting === undefined || setting === null || name === 'config-file') return undefined;
  return {
    given: { value: setting, source: `file ${sources.path}` },
    shown: setting,
    where: `for "--${name}" in ${sources.path}`,
    parse: () => fromFile({ kind }, setting),
  };
}

function fromFile({ kind }: Pick<Flag<unknown>, 'kind'>, value: unknown): unknown {
  if (kind.fromFile !== undefined) return kind.fromFile(value);
  if (value !== null && typeof value === 'object') throw new InvalidValue('must be a single value');
  return kind.fromTexts([String(value)]);
}

function describeInvalid(error: InvalidValue, { secret }: Flag<unknown>, { shown, where }: RawSetting): string {
  if (error.complete) return error.message;
  const value = secret ? 'REDACTED' : typeof shown === 'string' ? shown : JSON.stringify(shown);
  return `invalid argument "${value}" ${where}: ${error.message}`;
}
