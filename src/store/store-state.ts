import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE } from './lmdb-file.ts';
import { RawStore } from './raw-store.ts';
import {
  type FinishedUpgrade,
  LAST_UPGRADE_KEY,
  STORE_VERSION_KEY,
  type UnfinishedUpgrade,
  UPGRADE_KEY,
} from './store-version.ts';

/** The version of a store and the state of its upgrade. */
export interface StoreState {
  version: number;
  unfinished: UnfinishedUpgrade | undefined;
  last: FinishedUpgrade | undefined;
}

/** Reads the version of a store without its lock, also while a backend uses it. Undefined when there is no store. */
export async function readStoreState(directory: string): Promise<StoreState | undefined> {
  const file = join(directory, DATA_FILE);
  if (!existsSync(file) || statSync(file).size === 0) return undefined;
  const store = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    if (!store.tableNames().includes('meta')) return undefined;
    const version = store.meta(STORE_VERSION_KEY);
    if (typeof version !== 'number') return undefined;
    return {
      version,
      unfinished: store.meta(UPGRADE_KEY) as UnfinishedUpgrade | undefined,
      last: store.meta(LAST_UPGRADE_KEY) as FinishedUpgrade | undefined,
    };
  } finally {
    await store.close();
  }
}
