import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../ports/log.ts';
import { isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import type { EnvironmentOptions } from '../../store/lmdb/lmdb-environment.ts';
import { LmdbStore } from '../../store/lmdb/lmdb-store.ts';
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
  probe?: ((directory: string) => Promise<void>) | undefined;
  /** The name of the backend's own entity. */
  backendName: string;
  log: Log;
}

/**
 * Locks the store of a state directory and opens it. Damaged records are set aside before, unless the store is exactly as a clean stop
 * left it.
 *
 * @throws StoreInUse, StoreTooNew, StoreDamaged, or the error of `probe`
 */
export async function openStore(
  { stateDir, controlSocket, sync, probe, backendName, log }: OpenStoreOptions,
  closers: Closers,
  open: (options: EnvironmentOptions) => TransactionalStore = (lmdbOptions) => new LmdbStore(lmdbOptions),
): Promise<TransactionalStore> {
  const lock = await ownStore(stateDir, controlSocket);
  closers.add(() => {
    lock.release();
  });
  const directory = storeDirectory(stateDir);
  const store = await reportingDamage(directory, async () => {
    await probe?.(directory);
    if (hasStore(directory) && !isUnchangedSinceCleanStop(directory)) await setAside(stateDir, backendName, log);
    return open({ directory, sync });
  });
  closers.add(() => store.close());
  return store;
}

const hasStore = (directory: string): boolean =>
  (statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** A record that cannot be set aside stays in the store, and is reported where it is read. @throws CorruptRecord for too many of them */
async function setAside(stateDir: string, backendName: string, log: Log): Promise<void> {
  const quarantine = new QuarantineDirectory(quarantineDirectory(stateDir));
  try {
    for (const record of await setDamagedAside(storeDirectory(stateDir), quarantine, backendName)) {
      log.error({ ...record }, 'a record of the store is damaged and was set aside');
    }
  } catch (err) {
    if (!(err instanceof QuarantineUnusable)) throw err;
    log.error({ err }, 'damaged records of the store cannot be set aside');
  }
}
