import { BACKEND_FILE_KEYS, initFlags } from './flags/command-flags.ts';
import { type FirstAdmin, firstAdminOf, firstAdminRules } from './flags/first-admin-flags.ts';
import { type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { keyPairRule } from './flags/tls-flags.ts';
import { controlSocketOf, ENVIRONMENT_PREFIX, stateDirRule, timeoutRule } from './flags/state-flags.ts';

export interface InitConfig {
  readonly stateDir: string;
  readonly controlSocket: string | undefined;
  /** Whether the state directory is the default. */
  readonly hasDefaultStateDir: boolean;
  /** Undefined with `--interactive`. */
  readonly admin: FirstAdmin | undefined;
  /** The limit of one attempt. */
  readonly timeoutMs: number;
  readonly wait: boolean;
  readonly restrictEdit: boolean;
  readonly ignoreAlreadyInitialized: boolean;
}

/** The flags of `mon-backend init`, without the command itself. @throws ConfigError */
export function parseInitConfig(sources: Sources): Parsed<InitConfig> {
  return parseFlags<typeof initFlags, InitConfig>(
    {
      usage: 'mon-backend init',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: initFlags,
      keysOfOthers: BACKEND_FILE_KEYS,
      sharesSettings: true,
      rules: [stateDirRule, ...firstAdminRules, timeoutRule, keyPairRule],
      build: (values, _warn, isGiven): InitConfig =>
        Object.freeze({
          stateDir: values['state-dir'],
          controlSocket: controlSocketOf(values),
          hasDefaultStateDir: !isGiven('state-dir'),
          admin: values.interactive ? undefined : firstAdminOf(values),
          timeoutMs: values.timeout,
          wait: values.wait,
          restrictEdit: values['restrict-edit'],
          ignoreAlreadyInitialized: values['ignore-already-initialized'],
        }),
    },
    sources,
  );
}
