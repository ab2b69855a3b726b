import { backupFlags, keptBackups, type KeptBackups } from './flags/backup-flags.ts';
import { BACKEND_FILE_KEYS } from './flags/command-flags.ts';
import { kinds, type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { controlFlags, controlSocketOf, ENVIRONMENT_PREFIX, stateDirRule, stateFlags } from './flags/state-flags.ts';

export interface BackupConfig {
  readonly stateDir: string;
  /** The file to create; undefined for one in the directory of `backups`. */
  readonly path: string | undefined;
  readonly backups: KeptBackups;
}

export interface RestoreConfig {
  readonly stateDir: string;
  readonly controlSocket: string | undefined;
  /** The backup. */
  readonly path: string;
  /** Whether a present store is moved aside instead of refusing it. */
  readonly replaces: boolean;
}

const commandFlags = {
  ...stateFlags,
  ...backupFlags,
  path: {
    kind: kinds.text,
    fallback: '',
    about: 'the file to create, also as an argument; by default backup-<time>.mdb in --backup-dir',
    isOperand: true,
  },
};

const restoreFlags = {
  ...stateFlags,
  ...controlFlags,
  path: { kind: kinds.text, fallback: '', about: 'the backup, also as an argument', isOperand: true },
  replace: { kind: kinds.boolean, fallback: false, about: 'move an existing store to <state-dir>/store.old-<time>' },
};

const shared = {
  environmentPrefix: ENVIRONMENT_PREFIX,
  keysOfOthers: BACKEND_FILE_KEYS,
  sharesSettings: true,
};

/** The flags of `mon-backend backup`, without the command itself. @throws ConfigError */
export function parseBackupConfig(sources: Sources): Parsed<BackupConfig> {
  return parseFlags<typeof commandFlags, BackupConfig>(
    {
      ...shared,
      usage: 'mon-backend backup [path]',
      flags: commandFlags,
      rules: [stateDirRule],
      build: (values) =>
        Object.freeze({
          stateDir: values['state-dir'],
          path: values.path || undefined,
          backups: keptBackups(values),
        }),
    },
    sources,
  );
}

/** The flags of `mon-backend restore`, without the command itself. @throws ConfigError */
export function parseRestoreConfig(sources: Sources): Parsed<RestoreConfig> {
  return parseFlags<typeof restoreFlags, RestoreConfig>(
    {
      ...shared,
      usage: 'mon-backend restore <path>',
      flags: restoreFlags,
      rules: [
        stateDirRule,
        {
          flags: ['path'],
          broken: ({ path }) =>
            path === '' ? 'the backup to restore is missing: mon-backend restore <path>' : undefined,
        },
      ],
      build: (values) =>
        Object.freeze({
          stateDir: values['state-dir'],
          controlSocket: controlSocketOf(values),
          path: values.path,
          replaces: values.replace,
        }),
    },
    sources,
  );
}
