import { InvalidResource } from '../../resources/errors.ts';
import { assertUsername, isUuid } from '../../resources/names.ts';
import { AGENT_USERNAME } from '../../resources/user.ts';
import { ConfigError, type Flag, type FlagValues, kinds, type Mistake } from '../parsing/flags.ts';

const MIN_PASSWORD_LENGTH = 8;

export interface FirstAdmin {
  readonly username: string;
  readonly password: string;
  readonly apiKey: string | undefined;
}

export const firstAdminFlags = {
  'cluster-admin-username': { kind: kinds.text, fallback: '', about: 'name of the first administrator' },
  'cluster-admin-password': { kind: kinds.text, fallback: '', secret: true, about: 'password of the administrator' },
  'cluster-admin-api-key': { kind: kinds.text, fallback: '', secret: true, about: 'API key of the administrator' },
  interactive: { kind: kinds.boolean, fallback: false, about: 'ask for the name, the password and the API key' },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof firstAdminFlags>;

const REQUIRED = 'both flags --cluster-admin-username and --cluster-admin-password are required';

interface AdminRule {
  flags: (keyof Values)[];
  broken(admin: FirstAdmin): string | undefined;
}

const RULES: readonly AdminRule[] = [
  {
    flags: ['cluster-admin-username', 'cluster-admin-password'],
    broken: ({ username, password }) => (username === '' || password === '' ? REQUIRED : undefined),
  },
  {
    flags: ['cluster-admin-username'],
    broken({ username }) {
      if (username === '') return undefined;
      try {
        assertUsername(username);
        return undefined;
      } catch (error) {
        if (!(error instanceof InvalidResource)) throw error;
        return `cluster-admin-username is invalid: ${error.message}`;
      }
    },
  },
  {
    flags: ['cluster-admin-username'],
    broken: ({ username }) =>
      username === AGENT_USERNAME
        ? `cluster-admin-username must not be ${AGENT_USERNAME}: agents log in as that user`
        : undefined,
  },
  {
    flags: ['cluster-admin-password'],
    broken: ({ password }) =>
      password !== '' && password.length < MIN_PASSWORD_LENGTH
        ? `cluster-admin-password must be at least ${MIN_PASSWORD_LENGTH} characters`
        : undefined,
  },
  {
    flags: ['cluster-admin-api-key'],
    broken: ({ apiKey }) =>
      apiKey === undefined || isUuid(apiKey) ? undefined : 'cluster-admin-api-key must be a UUID',
  },
];

export const firstAdminOf = (values: Values): FirstAdmin =>
  Object.freeze({
    username: values['cluster-admin-username'],
    password: values['cluster-admin-password'],
    apiKey: values['cluster-admin-api-key'] || undefined,
  });

/** The rules of the flags. They do not apply with `--interactive`, because the command then asks for the values. */
export const firstAdminRules = RULES.map(({ flags, broken }) => ({
  flags,
  broken: (values: Values): string | undefined => {
    const rule = values.interactive ? undefined : broken(firstAdminOf(values));
    return rule === REQUIRED ? `${rule}; with --interactive the command asks for them` : rule;
  },
}));

/** Validates the answers by the same rules. @throws ConfigError */
export function assertFirstAdmin(admin: FirstAdmin): void {
  const mistakes = RULES.flatMap(({ flags: [flag], broken }): Mistake[] => {
    const rule = broken(admin);
    return rule === undefined ? [] : [{ flag, rule }];
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}
