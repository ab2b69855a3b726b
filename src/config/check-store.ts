import { BACKEND_FILE_KEYS } from './flags/command-flags.ts';
import { type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { controlFlags, controlSocketOf, ENVIRONMENT_PREFIX, stateDirRule, stateFlags } from './flags/state-flags.ts';

export interface CheckStoreConfig {
  readonly stateDir: string;
  readonly controlSocket: string | undefined;
}

/** The flags of `mon-backend check-store`, without the command itself. @throws ConfigError */
export function parseCheckStoreConfig(sources: Sources): Parsed<CheckStoreConfig> {
  return parseFlags(
    {
      usage: 'mon-backend check-store',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: { ...stateFlags, ...controlFlags },
      keysOfOthers: BACKEND_FILE_KEYS,
      sharesSettings: true,
      rules: [stateDirRule],
      build: (values): CheckStoreConfig =>
        Object.freeze({ stateDir: values['state-dir'], controlSocket: controlSocketOf(values) }),
    },
    sources,
  );
}
