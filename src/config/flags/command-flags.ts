import { backupFlags } from './backup-flags.ts';
import { etcdFlags } from './etcd-flags.ts';
import { firstAdminFlags } from './first-admin-flags.ts';
import { type Flag, kinds, withoutEffect } from '../parsing/flags.ts';
import { startFlags } from './start-flags.ts';
import { controlFlags, stateFlags } from './state-flags.ts';

const DEFAULT_TIMEOUT_MS = 5_000;

/** Flags with which the reference reaches its store. `init` and `upgrade` share the settings of `start`. */
const connectionFlags = {
  ...withoutEffect('this command opens the store in --state-dir itself', {
    'cert-file': kinds.text,
    'key-file': kinds.text,
    'trusted-ca-file': kinds.text,
    'insecure-skip-tls-verify': kinds.boolean,
  }),
  ...etcdFlags,
};

/** The flags of `mon-backend init`. */
export const initFlags = {
  ...stateFlags,
  ...controlFlags,
  ...firstAdminFlags,
  timeout: {
    kind: kinds.duration({ bareSeconds: true }),
    fallback: DEFAULT_TIMEOUT_MS,
    about: 'time limit of one attempt',
  },
  'restrict-edit': {
    kind: kinds.boolean,
    fallback: false,
    about: 'give the cluster role edit no rights to change handlers and mutators, whose commands run on this machine',
  },
  wait: { kind: kinds.boolean, fallback: false, about: 'retry until the store can be reached' },
  'ignore-already-initialized': {
    kind: kinds.boolean,
    fallback: false,
    about: 'exit with 0 instead of 3 when the store is already initialized',
  },
  ...connectionFlags,
} satisfies Record<string, Flag<unknown>>;

/** The flags of `mon-backend upgrade`. */
export const upgradeFlags = {
  ...stateFlags,
  ...controlFlags,
  ...backupFlags,
  'create-missing-namespaces': {
    kind: kinds.boolean,
    fallback: false,
    about: 'create namespaces that checks name and that do not exist',
  },
  'dry-run': {
    kind: kinds.boolean,
    fallback: false,
    about: 'check what would halt the upgrade, print its steps, and change nothing',
  },
  'skip-confirm': { kind: kinds.boolean, fallback: false, about: 'do not ask for a confirmation' },
  timeout: {
    kind: kinds.duration({ bareSeconds: true }),
    fallback: DEFAULT_TIMEOUT_MS,
    about: 'time limit of the wait for a store that another process uses',
  },
  ...connectionFlags,
} satisfies Record<string, Flag<unknown>>;

/** The keys of the configuration file. All commands of the backend share the file, so that a command does not warn about the keys of another. */
export const BACKEND_FILE_KEYS: readonly string[] = Object.keys({ ...startFlags, ...initFlags, ...upgradeFlags });
