import { type Flag, kinds } from '../parsing/flags.ts';

const DEFAULT_STATE_DIR = '/var/lib/mon/mon-backend';
const DEFAULT_CONFIG_FILE = '/etc/mon/backend.yml';

export const ENVIRONMENT_PREFIX = 'MON_BACKEND_';

/** The flags that all commands of the backend have. */
export const stateFlags = {
  'state-dir': { kind: kinds.text, fallback: DEFAULT_STATE_DIR, short: 'd', about: 'directory of the store' },
  'config-file': { kind: kinds.text, fallback: DEFAULT_CONFIG_FILE, short: 'c', about: 'YAML file with these flags' },
} satisfies Record<string, Flag<string>>;

/** The flag of the commands that a running backend must not be in the way of. */
export const controlFlags = {
  'control-socket': {
    kind: kinds.text,
    fallback: '',
    about: 'socket through which commands reach the running backend; by default <state-dir>/control.sock',
  },
} satisfies Record<string, Flag<string>>;

/** Undefined for the one in the state directory. */
export const controlSocketOf = (values: { 'control-socket': string }): string | undefined =>
  values['control-socket'] || undefined;

export const stateDirRule = {
  flags: ['state-dir'] as const,
  broken: (values: { 'state-dir': string }) => (values['state-dir'] === '' ? 'state-dir must not be empty' : undefined),
};

/** The rule of the commands that have `--timeout`. */
export const timeoutRule = {
  flags: ['timeout'] as const,
  broken: (values: { timeout: number }) => (values.timeout > 0 ? undefined : 'timeout must be above 0'),
};
