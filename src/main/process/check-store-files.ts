import { assertDataFileNotLost, isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { assertReadersFile, hasData } from '../../store/lmdb/lmdb-file.ts';
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
  assertReadersFile(directory);
  assertDataFileNotLost(directory);
  if (!hasData(directory)) return;
  if (isUnchangedSinceCleanStop(directory)) return;
  const damage = await damageFoundBy('store-probe', directory);
  if (damage !== undefined) throw new CorruptRecord(damage);
}
