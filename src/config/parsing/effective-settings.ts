import type { Flag, FlagTable } from './flag.ts';
import { kinds } from './flag-kinds.ts';

/** A setting that is not the default, as it was given, with its source. */
export interface GivenSetting {
  value: unknown;
  /** For example `flag --state-dir`. */
  source: string;
}

export const PRINT_CONFIG = 'print-config';

export const printConfigFlags = {
  [PRINT_CONFIG]: { kind: kinds.boolean, fallback: false, about: 'print the settings with their sources and exit' },
};

/**
 * The settings as a YAML file that gives the same configuration, each with its source in a comment. Secrets are hidden. Settings
 * without effect are shown when they were given.
 */
export function effectiveSettings(
  flags: FlagTable,
  values: Readonly<Record<string, unknown>>,
  given: ReadonlyMap<string, GivenSetting>,
): string {
  return Object.entries<Flag<unknown>>(flags)
    .filter(([name, flag]) => name !== PRINT_CONFIG && (given.has(name) || flag.withoutEffect === undefined))
    .map(([name, flag]) => {
      const setting = given.get(name);
      const value = setting === undefined ? fallbackOf(flag) : givenValue(flag, values[name], setting);
      const shown = flag.secret && value !== '' ? 'REDACTED' : withoutCredentials(value);
      return `${name}: ${JSON.stringify(shown)} # ${setting?.source ?? 'default'}\n`;
    })
    .join('');
}

const MAPS: readonly unknown[] = [kinds.map, kinds.mapWithLowerCaseFileKeys];

/** Maps as the file has them; other values as they were given. */
const givenValue = ({ kind }: Flag<unknown>, parsed: unknown, { value }: GivenSetting): unknown =>
  MAPS.includes(kind) ? parsed : value;

function fallbackOf({ kind, fallback }: Flag<unknown>): unknown {
  const shown = kind.show?.(fallback);
  return shown === undefined || shown === '' ? (fallback ?? '') : shown;
}

/** Hides the credentials of URLs. */
const withoutCredentials = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replaceAll(/\/\/[^/@\s,]*@/g, '//REDACTED@')
    : Array.isArray(value)
      ? value.map(withoutCredentials)
      : value;
