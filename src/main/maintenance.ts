import { parseBackupConfig, parseRestoreConfig } from '../config/backup.ts';
import { parseCheckStoreConfig } from '../config/check-store.ts';
import { parseExportConfig } from '../config/export.ts';
import type { Parsed, Sources } from '../config/parsing/flags.ts';
import type { Log } from '../ports/log.ts';
import type { BackendHost } from './backend-host.ts';
import { BackupFailed } from '../store/maintenance/backup.ts';
import { backup, type MaintenancePorts } from './maintenance/backup-command.ts';
import { checkStore } from './maintenance/check-store-command.ts';
import { exportEntries } from './maintenance/export-command.ts';
import { restore } from './maintenance/restore-command.ts';
import { abortedByStopSignal } from './process/on-stop-signal.ts';
import { readVersion } from './process/version.ts';

/** The commands that maintain a store, with their lines in the usage text. */
export const MAINTENANCE: Readonly<Record<string, string>> = {
  backup: 'copy the store into one verified file, also while the backend runs',
  restore: 'restore the store from a backup',
  'check-store': 'check every page, record and index of a store that no backend uses',
  'ledger export': 'write the entries of the ledger into a file, also while the backend runs',
};

export interface MaintenanceSources {
  sources(argv: readonly string[]): Sources;
  /** Returns the configuration, or undefined when only its help was asked for. */
  configOf<T>(parsed: Parsed<T>): T | undefined;
  host: BackendHost;
  log: Log;
}

/** Runs a command of `MAINTENANCE`. Returns the exit code. */
export async function runMaintenance(
  command: string,
  argv: readonly string[],
  { sources, configOf, host, log }: MaintenanceSources,
): Promise<number> {
  const signal = abortedByStopSignal(new BackupFailed(`${command} interrupted, nothing was changed`), host);
  const { clock, console, yieldProcessor } = host;
  const ports: MaintenancePorts = { output: console.output, clock, log, signal, yieldProcessor };
  if (command === 'backup') {
    const config = configOf(parseBackupConfig(sources(argv)));
    return config === undefined ? 0 : backup(config, readVersion(), ports);
  }
  if (command === 'check-store') {
    const config = configOf(parseCheckStoreConfig(sources(argv)));
    return config === undefined ? 0 : checkStore(config, ports);
  }
  if (command === 'ledger export') {
    const config = configOf(parseExportConfig(sources(argv)));
    return config === undefined ? 0 : exportEntries(config, ports);
  }
  const config = configOf(parseRestoreConfig(sources(argv)));
  return config === undefined ? 0 : restore(config, ports);
}
