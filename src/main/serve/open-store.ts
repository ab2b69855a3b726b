import { lockStore } from '../../store/store-lock.ts';
import { LmdbStore, type LmdbStoreOptions } from '../../store/lmdb-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import type { Closers } from './closers.ts';

/** Locks the directory of the store and opens it. @throws StoreInUse, StoreTooNew */
export function openStore(
  options: LmdbStoreOptions,
  closers: Closers,
  open: (options: LmdbStoreOptions) => TransactionalStore = (lmdbOptions) => new LmdbStore(lmdbOptions),
): TransactionalStore {
  const lock = lockStore(options.directory);
  closers.add(() => {
    lock.release();
  });
  const store = open(options);
  closers.add(() => store.close());
  return store;
}
