import { keptBackups, type KeptBackups } from './flags/backup-flags.ts';
import { BACKEND_FILE_KEYS, upgradeFlags } from './flags/command-flags.ts';
import { type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { controlSocketOf, ENVIRONMENT_PREFIX, stateDirRule, timeoutRule } from './flags/state-flags.ts';

export interface UpgradeConfig {
  readonly stateDir: string;
  readonly controlSocket: string | undefined;
  readonly skipConfirm: boolean;
  readonly backups: KeptBackups;
  readonly createMissingNamespaces: boolean;
  /** Whether only what the upgrade would do is printed. */
  readonly dryRun: boolean;
  /** The limit of the wait for a store that another process uses. */
  readonly timeoutMs: number;
}

/** The flags of `mon-backend upgrade`, without the command itself. @throws ConfigError */
export function parseUpgradeConfig(sources: Sources): Parsed<UpgradeConfig> {
  return parseFlags<typeof upgradeFlags, UpgradeConfig>(
    {
      usage: 'mon-backend upgrade',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: upgradeFlags,
      keysOfOthers: BACKEND_FILE_KEYS,
      sharesSettings: true,
      rules: [stateDirRule, timeoutRule],
      build: (values): UpgradeConfig =>
        Object.freeze({
          stateDir: values['state-dir'],
          controlSocket: controlSocketOf(values),
          backups: keptBackups(values),
          skipConfirm: values['skip-confirm'],
          createMissingNamespaces: values['create-missing-namespaces'],
          dryRun: values['dry-run'],
          timeoutMs: values.timeout,
        }),
    },
    sources,
  );
}
