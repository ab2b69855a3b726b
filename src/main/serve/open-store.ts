import type { Log } from '../../ports/log.ts';
import { isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { hasData } from '../../store/lmdb/lmdb-file.ts';
import type { EnvironmentOptions } from '../../store/lmdb/lmdb-environment.ts';
import { LmdbStore, type LmdbStoreOptions } from '../../store/lmdb/lmdb-store.ts';
import { QuarantineDirectory, QuarantineUnusable } from '../../store/maintenance/quarantine-directory.ts';
import { setDamagedAside } from '../../store/maintenance/set-aside.ts';
import { reportingDamage } from '../../store/maintenance/store-state.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { quarantineDirectory, storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import type { Closers } from './closers.ts';

export interface OpenStoreOptions {
  stateDir: string;
  /** The socket on which a running backend would answer; by default the one in the state directory. */
  controlSocket?: string | undefined;
  sync: EnvironmentOptions['sync'];
  /** Checks the store in the directory before it is opened, while this process has its lock. */
  checkFiles?: ((directory: string) => Promise<void>) | undefined;
  /** The name of the backend's own entity. */
  backendName: string;
  log: Log;
}

/**
 * Locks the store of a state directory and opens it. Damaged records are set aside before, unless the store is exactly as a clean stop
 * left it.
 *
 * @throws StoreInUse, StoreTooNew, StoreDamaged, or the error of `checkFiles`
 */
export async function openStore(
  { stateDir, controlSocket, sync, checkFiles, backendName, log }: OpenStoreOptions,
  closers: Closers,
  open: (options: LmdbStoreOptions) => TransactionalStore = (lmdbOptions) => new LmdbStore(lmdbOptions),
): Promise<TransactionalStore> {
  const lock = await ownStore(stateDir, controlSocket);
  closers.add(() => {
    lock.release();
  });
  const directory = storeDirectory(stateDir);
  const store = await reportingDamage(directory, async () => {
    await checkFiles?.(directory);
    const needsCheck = hasData(directory) && !isUnchangedSinceCleanStop(directory);
    return open({ directory, sync, isChecked: !needsCheck || (await setAside(stateDir, backendName, log)) });
  });
  closers.add(() => store.close());
  return store;
}

/**
 * Sets damaged records aside. Returns false if that is not possible: they stay in the store, and are reported where they are read.
 *
 * @throws CorruptRecord when there are too many of them, or when one is required
 */
async function setAside(stateDir: string, backendName: string, log: Log): Promise<boolean> {
  const quarantine = new QuarantineDirectory(quarantineDirectory(stateDir));
  try {
    for (const record of await setDamagedAside(storeDirectory(stateDir), quarantine, backendName)) {
      log.error({ ...record }, 'a record of the store is damaged and was set aside');
    }
    return true;
  } catch (err) {
    if (!(err instanceof QuarantineUnusable)) throw err;
    const message =
      'damaged records of the store cannot be set aside; make the quarantine directory writable, or move files out of it, and restart the backend';
    log.error({ err }, message);
    return false;
  }
}
