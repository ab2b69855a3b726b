import { type Flag, type FlagValues, kinds, type Rule } from '../parsing/flags.ts';

export interface SecretConfig {
  /** The environment variables that are secrets: names, and prefixes that end with `*`. None by default. */
  readonly secretVariables?: readonly string[];
}

export const DEFAULT_SECRET_VARIABLES: readonly string[] = ['MON_SECRET_*'];

const VARIABLE_OR_PREFIX = /^[A-Z_][A-Z0-9_]*\*?$/;

export const secretFlags = {
  'secrets-env-allow': {
    kind: kinds.list,
    fallback: [...DEFAULT_SECRET_VARIABLES],
    about: 'environment variables that handlers, mutators and checks may use as secrets; a name, or a prefix and *',
  },
} satisfies Record<string, Flag<unknown>>;

/** Commands cannot start without it. */
const SEARCH_PATH = 'PATH';

export const secretRule: Rule<typeof secretFlags> = {
  flags: ['secrets-env-allow'],
  broken: ({ 'secrets-env-allow': allowed }) => {
    const wrong = allowed.find((item) => !VARIABLE_OR_PREFIX.test(item));
    if (wrong !== undefined) {
      return `secrets-env-allow must list variables of A-Z, 0-9 and _, not starting with a digit, or prefixes of them and *, not ${wrong}`;
    }
    const matchesPath = (item: string): boolean =>
      item === SEARCH_PATH || (item.endsWith('*') && SEARCH_PATH.startsWith(item.slice(0, -1)));
    return allowed.some(matchesPath)
      ? `secrets-env-allow must not match ${SEARCH_PATH}, which commands need`
      : undefined;
  },
};

export const secretConfig = (values: FlagValues<typeof secretFlags>): SecretConfig => ({
  secretVariables: Object.freeze([...values['secrets-env-allow']]),
});
