import { resolve, join } from 'node:path';
import type { Writable } from 'node:stream';
import type { BackupConfig } from '../../config/backup.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { makeDirectory } from '../../ports/make-directory.ts';
import { DIRECTORY_MODE } from '../../store/maintenance/durable-files.ts';
import { makeHotBackup } from '../../store/maintenance/hot-backup.ts';
import type { Verification } from '../../store/ledger/ledger-verification.ts';
import { manifestPath } from '../../store/maintenance/manifest.ts';
import { removeOldBackups } from '../../store/maintenance/old-backups.ts';
import { assertReadable, NoStore } from '../../store/no-store.ts';
import { readStoreState } from '../../store/maintenance/store-state.ts';
import { assertKnown } from '../../store/lmdb/store-version.ts';
import { storeDirectory } from '../process/directories.ts';

/** Damaged records that the log names. */
const MAX_NAMED = 20;

export interface MaintenancePorts {
  output: Writable;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Gives other processes of the machine priority from now on. @throws Error of the system */
  yieldProcessor(): void;
}

/**
 * The command `mon-backend backup`: copies the store, also while a backend uses it. The path and the size are written
 * to the output. Old backups are removed only after an undamaged one without a path was made. Returns the exit code: 1
 * when the copy is complete, but records in it are damaged or its ledger is broken, as in the store.
 *
 * @throws NoStore, StoreDenied, NotADirectory, BackupFailed, StoreDamaged, StoreTooNew, StoreTooOld
 */
export async function backup(config: BackupConfig, program: string, ports: MaintenancePorts): Promise<number> {
  const { output, clock, log, signal } = ports;
  const directory = storeDirectory(config.stateDir);
  assertReadable(directory);
  const state = await readStoreState(directory);
  if (state === undefined) throw new NoStore(directory);
  assertKnown(state.version);
  yieldToBackend(ports);
  const stamp = new Date(clock.nowMs()).toISOString().replace(/[-:]|\.\d+/g, '');
  if (config.path === undefined) makeDirectory(config.backups.directory, DIRECTORY_MODE);
  const path = resolve(config.path ?? join(config.backups.directory, `backup-${stamp}.mdb`));
  const { manifest, damaged, ledger } = await makeHotBackup({
    directory,
    path,
    program,
    nowMs: clock.nowMs(),
    signal,
  });
  const records = Object.values(manifest.tables).reduce((sum, table) => sum + table.records, 0);
  output.write(`backup: ${path}\n`);
  output.write(`manifest: ${manifestPath(path)}\n`);
  output.write(`${manifest.bytes} bytes, ${records} records, ${ledgerText(ledger)}\n`);
  reportDamage(log, damaged, ledger);
  if (damaged.length > 0 || !ledger.ok) return 1;
  if (config.path === undefined) {
    const { directory: backups, keep } = config.backups;
    for (const old of removeOldBackups(backups, 'backup', keep)) output.write(`removed: ${old}\n`);
  }
  return 0;
}

export const ledgerText = (ledger: Verification): string =>
  ledger.ok
    ? `ledger ok, head ${ledger.head.seq}:${ledger.head.hash}`
    : `ledger broken at entry ${ledger.seq}: ${ledger.reason}`;

/** Logs the damage that a copy shares with the store that it comes from. */
export function reportDamage(log: Log, damaged: readonly string[], ledger: Verification): void {
  if (damaged.length > 0) {
    const records = damaged.slice(0, MAX_NAMED);
    log.error({ count: damaged.length, records }, 'records are damaged, the backup has them as they are');
  }
  if (!ledger.ok) log.error({ seq: ledger.seq, reason: ledger.reason }, 'the ledger is broken');
}

/** A backend on the same machine has priority for the processor. */
function yieldToBackend({ yieldProcessor, log }: MaintenancePorts): void {
  try {
    yieldProcessor();
  } catch (err) {
    log.info({ err }, 'could not lower the priority of the backup');
  }
}
