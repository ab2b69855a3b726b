import { type Flag, type FlagValues, kinds, type Rule } from '../parsing/flags.ts';
import { fileOf, type NamedFile, pemFile } from './tls-flags.ts';

const MIN_LIFETIME_MS = 1_000;
/** Ten years; use an API key for longer access. */
const MAX_LIFETIME_MS = 3_650 * 86_400_000;

/** PEM, of one elliptic curve. */
export interface TokenKeyFiles {
  readonly privateKey: NamedFile;
  readonly publicKey: NamedFile;
}

export interface TokenConfig {
  /** The lifetimes and keys of tokens; the defaults when absent. */
  readonly tokens?: {
    readonly accessMs: number;
    readonly refreshMs: number;
    /** The keys that sign tokens; by default a secret of the store. */
    readonly keys: TokenKeyFiles | undefined;
  };
}

const EXPIRY_FLAGS = ['access-token-expiry', 'refresh-token-expiry'] as const;
const KEYS = ['jwt-private-key-file', 'jwt-public-key-file'] as const;

export const tokenFlags = {
  'jwt-private-key-file': pemFile(
    'key that signs access tokens, PEM of curve P-256, P-384 or P-521, readable by its owner only',
  ),
  'jwt-public-key-file': pemFile('key that verifies access tokens, PEM'),
  'access-token-expiry': { kind: kinds.duration(), fallback: 300_000, about: 'lifetime of an access token' },
  'refresh-token-expiry': {
    kind: kinds.duration(),
    fallback: 43_200_000,
    about: 'lifetime of a login after its last refresh',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof tokenFlags>;

export const tokenRules: readonly Rule<typeof tokenFlags>[] = [
  ...EXPIRY_FLAGS.map((flag) => ({
    flags: [flag],
    broken: ({ [flag]: lifetimeMs }: Values) =>
      lifetimeMs >= MIN_LIFETIME_MS && lifetimeMs <= MAX_LIFETIME_MS ? undefined : `${flag} must be from 1s to 87600h`,
  })),
  {
    flags: KEYS,
    broken: (values) =>
      KEYS.filter((flag) => values[flag] === '').length === 1
        ? `the flags ${KEYS.map((flag) => `--${flag}`).join(' and ')} are required together`
        : undefined,
  },
];

export function tokenConfig(values: Values): TokenConfig {
  const privateKey = fileOf('jwt-private-key-file', values);
  const publicKey = fileOf('jwt-public-key-file', values);
  const keys = privateKey && publicKey && Object.freeze({ privateKey, publicKey });
  const [accessMs, refreshMs] = [values['access-token-expiry'], values['refresh-token-expiry']];
  return { tokens: Object.freeze({ accessMs, refreshMs, keys }) };
}
