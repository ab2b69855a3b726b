import { resolve } from 'node:path';
import type { ExportConfig } from '../../config/export.ts';
import { exportLedger } from '../../store/maintenance/ledger-export.ts';
import { RawStore } from '../../store/lmdb/raw-store.ts';
import { assertReadable, NoStore } from '../../store/no-store.ts';
import { readStoreState, reportingDamage } from '../../store/maintenance/store-state.ts';
import { assertKnown } from '../../store/lmdb/store-version.ts';
import { storeDirectory } from '../process/directories.ts';
import type { MaintenancePorts } from './backup-command.ts';

/**
 * The command `mon-backend ledger export`: writes the entries of the ledger into a file, also while a backend uses the store.
 *
 * @throws NoStore, StoreDenied, NotADirectory, ExportFailed, StoreDamaged, StoreTooNew, StoreTooOld
 */
export async function exportEntries(config: ExportConfig, { output, signal }: MaintenancePorts): Promise<number> {
  const directory = storeDirectory(config.stateDir);
  assertReadable(directory);
  const state = await readStoreState(directory);
  if (state === undefined) throw new NoStore(directory);
  assertKnown(state.version);
  const path = resolve(config.path);
  const { firstSeq, head } = await reportingDamage(directory, async () => {
    const store = new RawStore({ directory, sync: 'full', readOnly: true });
    try {
      return await exportLedger(store.ledgerEntries(), { path, after: config.after, signal });
    } finally {
      await store.close();
    }
  });
  const what =
    firstSeq === undefined ? 'no entries' : `entries ${firstSeq} to ${head.seq}, head ${head.seq}:${head.hash}`;
  output.write(`exported: ${path}\n${what}\n`);
  return 0;
}
