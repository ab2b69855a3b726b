import { firstAdminFlags } from './first-admin-flags.ts';
import { type Flag, kinds } from './flags.ts';
import { startFlags } from './start-flags.ts';
import { stateFlags } from './state-flags.ts';

const DEFAULT_TIMEOUT_MS = 5_000;

/** The flags of `mon-backend init`. */
export const initFlags = {
  ...stateFlags,
  ...firstAdminFlags,
  timeout: { kind: kinds.duration({ bareSeconds: true }), fallback: DEFAULT_TIMEOUT_MS, about: 'limit of one attempt' },
  wait: { kind: kinds.boolean, fallback: false, about: 'retry until the store can be reached' },
  'ignore-already-initialized': { kind: kinds.boolean, fallback: false, about: 'exit 0 instead of 3' },
} satisfies Record<string, Flag<unknown>>;

/** The flags of `mon-backend upgrade`. */
export const upgradeFlags = {
  ...stateFlags,
  'skip-confirm': { kind: kinds.boolean, fallback: false, about: 'start without a confirmation' },
  timeout: {
    kind: kinds.duration({ bareSeconds: true }),
    fallback: DEFAULT_TIMEOUT_MS,
    about: 'limit of the wait for a store that another process uses',
  },
} satisfies Record<string, Flag<unknown>>;

/** The keys of the configuration file, which all commands of the backend share: no command warns about those of another. */
export const BACKEND_FILE_KEYS: readonly string[] = Object.keys({ ...startFlags, ...initFlags, ...upgradeFlags });
