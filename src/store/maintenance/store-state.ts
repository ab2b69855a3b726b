import { join } from 'node:path';
import { assertIntactPages, describePage } from './intact-pages.ts';
import { isDamage } from './is-damage.ts';
import { assertDataFileNotLost } from '../lmdb/clean-stop.ts';
import { DATA_FILE, hasAllPages, hasData, InvalidReadersFile, prepareDataFile } from '../lmdb/lmdb-file.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { CorruptRecord } from '../encoding/sealed.ts';
import { walkPages } from '../pages/page-walk.ts';
import { StoreDamaged } from './store-damaged.ts';
import { lockStore, StoreInUse } from '../lmdb/store-lock.ts';
import {
  type FinishedUpgrade,
  LAST_UPGRADE_KEY,
  STORE_VERSION_KEY,
  type UnfinishedUpgrade,
  UPGRADE_KEY,
} from '../lmdb/store-version.ts';

/** The version of a store and the state of its upgrade. */
export interface StoreState {
  version: number;
  unfinished: UnfinishedUpgrade | undefined;
  last: FinishedUpgrade | undefined;
}

/**
 * Reads the version of a store, also while a backend uses it. Undefined when there is no store.
 *
 * @throws StoreDamaged
 * @throws Error when the system denies access to the data file
 */
export async function readStoreState(directory: string): Promise<StoreState | undefined> {
  return reportingDamage(directory, async () => {
    assertDataFileNotLost(directory);
    if (!hasData(directory)) return undefined;
    if (!hasAllPages(directory)) extendUnlessInUse(directory);
    return readState(directory);
  });
}

/** Returns what `read` returns. @throws StoreDamaged, which names the damaged file, when the database in it is damaged */
export async function reportingDamage<T>(directory: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreDamaged || !isDamage(error)) throw error;
    const what =
      error instanceof InvalidReadersFile
        ? `${error.message}; if that does not help,`
        : `${join(directory, DATA_FILE)}: ${error.message};`;
    throw new StoreDamaged(
      `the store is damaged: ${what} restore the latest backup with "mon-backend restore <backup> --replace", with the same --state-dir`,
      { cause: error },
    );
  }
}

/**
 * Extends the data file by the free pages that it lacks. A process that uses the store has done so already. A file that lacks a page
 * in use stays as it is, so that the next command names the same page.
 *
 * @throws CorruptRecord that names the first page in use that is missing or damaged
 */
function extendUnlessInUse(directory: string): void {
  try {
    const lock = lockStore(directory);
    try {
      const [first] = walkPages(join(directory, DATA_FILE)).damaged;
      if (first !== undefined) throw new CorruptRecord(describePage(first));
      prepareDataFile(directory);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
  }
}

async function readState(directory: string): Promise<StoreState | undefined> {
  const store = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    assertIntactPages(directory, store);
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
