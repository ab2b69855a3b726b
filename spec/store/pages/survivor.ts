import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../../../src/store/maintenance/is-damage.ts';
import { DATA_FILE } from '../../../src/store/lmdb/lmdb-file.ts';
import { walkPages } from '../../../src/store/pages/page-walk.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';

const WRITES = 20;

/** The descriptor of the reports: standard output has what LMDB prints. */
const RESULTS = 3;
const report = (text: string): void => void writeSync(RESULTS, `${text}\n`);

/**
 * Opens the stores in its arguments one after the other, unless the walk of their pages finds damage. Reads all records of each and
 * writes to it. Reports each store before LMDB opens it, so that the last one reported is the one with which a process ended.
 */
for (const directory of process.argv.slice(2)) {
  const [damaged] = walkPages(join(directory, DATA_FILE)).damaged;
  if (damaged !== undefined) {
    report(`found ${directory}`);
    continue;
  }
  report(`open ${directory}`);
  try {
    const store = new RawStore({ directory, sync: 'none' });
    for (const table of store.tableNames()) for (const { value } of store.bytesOf(table)) void value[0];
    for (let n = 0; n < WRITES; n += 1) {
      store.write([{ table: 'resources', key: `new/${n}`, payload: Buffer.alloc(1_000) }], { n });
    }
    await store.close();
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  report(`survived ${directory}`);
}
