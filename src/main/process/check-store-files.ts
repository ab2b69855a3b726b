import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import { CorruptRecord } from '../../store/encoding/sealed.ts';
import { damageFoundBy } from './damage-check.ts';

/**
 * Lets another process check the pages of a store and open it, because LMDB ends a process that reads a damaged page.
 * The caller holds the lock of the store. A store that is exactly as a clean stop left it is not checked
 * (docs/decisions/0053-clean-stops.md).
 *
 * @throws CorruptRecord that names what is damaged
 */
export async function checkStoreFiles(directory: string): Promise<void> {
  if ((statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  if (isUnchangedSinceCleanStop(directory)) return;
  const damage = await damageFoundBy('store-probe', directory);
  if (damage !== undefined) throw new CorruptRecord(damage);
}
