import { join } from 'node:path';
import { describePage } from '../store/maintenance/intact-pages.ts';
import { isDamage } from '../store/maintenance/is-damage.ts';
import { DATA_FILE } from '../store/lmdb/lmdb-file.ts';
import { walkPages } from '../store/pages/page-walk.ts';
import { RawStore } from '../store/lmdb/raw-store.ts';
import { EXIT_DAMAGED } from './process/damage-check.ts';

/**
 * Checks every page of the store in its argument, and opens the store as a backend does at its start. It is a program of its own,
 * because LMDB ends the process when it finds a damaged page. It writes the reason to standard error. The caller holds the store's lock.
 */
async function probe(directory: string): Promise<number> {
  const [first] = walkPages(join(directory, DATA_FILE)).damaged;
  if (first !== undefined) {
    process.stderr.write(`${describePage(first)}\n`);
    return EXIT_DAMAGED;
  }
  try {
    const store = new RawStore({ directory, sync: 'full' });
    try {
      store.readEnds();
    } finally {
      await store.close();
    }
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return isDamage(error) ? EXIT_DAMAGED : 1;
  }
}

void probe(process.argv[2] ?? '').then((code) => {
  process.exitCode = code;
});
