import { join } from 'node:path';
import { DATA_FILE } from '../lmdb/lmdb-file.ts';
import { type DamagedPage, walkPages } from '../pages/page-walk.ts';
import type { RawStore } from '../lmdb/raw-store.ts';
import { CorruptRecord } from '../encoding/sealed.ts';

/**
 * Checks the pages of an open store, which another process may write meanwhile. LMDB ends the process when it reads a damaged page, so
 * that this comes before the first record is read.
 *
 * @throws CorruptRecord that names the first damaged page
 */
export function assertIntactPages(directory: string, store: RawStore): void {
  const [first] = store.duringRead(() => walkPages(join(directory, DATA_FILE))).damaged;
  if (first !== undefined) throw new CorruptRecord(describePage(first));
}

export const describePage = ({ page, table, reason }: DamagedPage): string =>
  `page ${page}${table === undefined ? '' : ` (${table})`}: ${reason}`;
