import { type ConfigWarning, type Flag, kinds } from '../parsing/flags.ts';
import type { ListenAddress } from '../parsing/listen-address.ts';

export interface DebugConfig {
  /** Where the profiles of the process are served; undefined = nowhere. */
  readonly debug?: ListenAddress | undefined;
}

/** The address of the reference. Other machines cannot reach it. */
const DEBUG_ADDRESS: ListenAddress = Object.freeze({ host: '127.0.0.1', port: 6060 });

export const debugFlags = {
  debug: {
    kind: kinds.boolean,
    fallback: false,
    about: 'serve profiles of CPU time and memory on 127.0.0.1:6060, without a login',
  } satisfies Flag<boolean>,
};

export function debugConfig(values: { debug: boolean }, warn: (warning: ConfigWarning) => void): DebugConfig {
  if (!values.debug) return { debug: undefined };
  const message = 'every user of this machine can profile the backend, which slows it down';
  warn({ message, fields: { flag: 'debug' } });
  return { debug: DEBUG_ADDRESS };
}
