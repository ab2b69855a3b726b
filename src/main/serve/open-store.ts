import { LmdbStore, type LmdbStoreOptions } from '../../store/lmdb-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import type { Closers } from './closers.ts';

export interface OpenStoreOptions {
  stateDir: string;
  sync: LmdbStoreOptions['sync'];
}

/** Locks the store of a state directory and opens it. @throws StoreInUse, StoreTooNew */
export async function openStore(
  { stateDir, sync }: OpenStoreOptions,
  closers: Closers,
  open: (options: LmdbStoreOptions) => TransactionalStore = (lmdbOptions) => new LmdbStore(lmdbOptions),
): Promise<TransactionalStore> {
  const lock = await ownStore(stateDir);
  closers.add(() => {
    lock.release();
  });
  const store = open({ directory: storeDirectory(stateDir), sync });
  closers.add(() => store.close());
  return store;
}
