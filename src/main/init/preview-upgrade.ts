import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { assertSpace, BackupFailed } from '../../store/maintenance/backup.ts';
import { MIGRATIONS } from '../../store/migrations/migrations.ts';
import { RawStore } from '../../store/lmdb/raw-store.ts';
import type { StoreState } from '../../store/maintenance/store-state.ts';
import { STORE_VERSION } from '../../store/lmdb/store-version.ts';

/**
 * Returns what an upgrade of the store would do, as lines of text. It changes nothing, and a backend may use the store.
 *
 * @throws BackupFailed when there is no space for the backup
 */
export async function previewUpgrade(
  directory: string,
  { version, unfinished }: StoreState,
  backupDirectory: string,
): Promise<string> {
  if (unfinished !== undefined) {
    return `would continue the upgrade from schema ${unfinished.from} to ${STORE_VERSION} (backup: ${unfinished.backup})\n`;
  }
  if (version === STORE_VERSION) return `nothing would be upgraded: the store has schema ${version}\n`;
  const store = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    assertSpace(store, existing(backupDirectory));
  } catch (error) {
    throw new BackupFailed(`there is no space for a backup in ${backupDirectory}: ${(error as Error).message}`);
  } finally {
    await store.close();
  }
  const steps = MIGRATIONS.filter(({ to }) => to > version).map(({ to, name }) => `schema ${to}: ${name}\n`);
  return `would make a backup in ${backupDirectory} and upgrade database from schema ${version} to ${STORE_VERSION}\n${steps.join('')}`;
}

/** The directory, or the nearest one above it that exists. */
const existing = (directory: string): string => (existsSync(directory) ? directory : existing(dirname(directory)));
