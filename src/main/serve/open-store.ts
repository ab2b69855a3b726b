import type { EnvironmentOptions } from '../../store/lmdb/lmdb-environment.ts';
import { LmdbStore } from '../../store/lmdb/lmdb-store.ts';
import { reportingDamage } from '../../store/maintenance/store-state.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import type { Closers } from './closers.ts';

export interface OpenStoreOptions {
  stateDir: string;
  /** The socket on which a running backend would answer; by default the one in the state directory. */
  controlSocket?: string | undefined;
  sync: EnvironmentOptions['sync'];
  /** Checks the store in the directory before it is opened, while this process has its lock. */
  probe?: ((directory: string) => Promise<void>) | undefined;
}

/** Locks the store of a state directory and opens it. @throws StoreInUse, StoreTooNew, StoreDamaged, or the error of `probe` */
export async function openStore(
  { stateDir, controlSocket, sync, probe }: OpenStoreOptions,
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
    return open({ directory, sync });
  });
  closers.add(() => store.close());
  return store;
}
