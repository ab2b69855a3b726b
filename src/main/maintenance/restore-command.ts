import type { RestoreConfig } from '../../config/backup.ts';
import { type Restored, restoreStore } from '../../store/maintenance/restore.ts';
import { STORE_VERSION } from '../../store/lmdb/store-version.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import { warnOfOtherOwner } from '../process/privileges.ts';
import { ledgerText, type MaintenancePorts, reportDamage } from './backup-command.ts';

/**
 * The command `mon-backend restore`: replaces the store, which no process may use, by a verified copy of a backup. The state
 * directory stays as it was when that fails. Returns the exit code: 1 when the store is restored, but records in it are damaged
 * or its ledger is broken, as in the backup.
 *
 * @throws StoreDenied, NotADirectory, StoreInUse, RestoreFailed, StoreTooNew, StoreTooOld
 */
export async function restore(config: RestoreConfig, ports: MaintenancePorts): Promise<number> {
  const { output, clock, log, signal } = ports;
  const { stateDir, controlSocket, path, replaces } = config;
  warnOfOtherOwner(stateDir, log);
  const directory = storeDirectory(stateDir);
  const lock = await ownStore(stateDir, controlSocket);
  let restored: Restored;
  try {
    restored = await restoreStore({ directory, path, replaces, nowMs: clock.nowMs(), signal });
  } catch (error) {
    lock.releaseAndRemove();
    throw error;
  }
  lock.release();
  const { bytes, records, storeVersion, hasManifest, damaged, ledger, movedTo } = restored;
  if (!hasManifest) log.warn({ path }, 'the backup has no manifest, only its pages, records and ledger were verified');
  if (movedTo !== undefined) output.write(`former store: ${movedTo}\n`);
  output.write(`restored: ${directory}\n`);
  output.write(`${bytes} bytes, ${records} records, ${ledgerText(ledger)}\n`);
  if (storeVersion < STORE_VERSION) {
    output.write(`the store has version ${storeVersion}: run "mon-backend upgrade" before the next start\n`);
  }
  reportDamage(log, damaged, ledger);
  return damaged.length === 0 && ledger.ok ? 0 : 1;
}
