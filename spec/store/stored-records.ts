import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RawStore } from '../../src/store/lmdb/raw-store.ts';
import { unseal } from '../../src/store/encoding/sealed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Returns every record of a store or of a backup file by table and key, with its payload as text. Index entries have no payload. */
export async function recordsOf(path: string): Promise<Map<string, Map<string, string>>> {
  const own = await temporaryDirectory();
  const file = statSync(path).isDirectory() ? join(path, 'data.mdb') : path;
  cpSync(file, join(own.path, 'data.mdb'));
  const store = new RawStore({ directory: own.path, sync: 'none' });
  try {
    return new Map(store.tableNames().map((table) => [table, new Map(textsOf(store, table))]));
  } finally {
    await store.close();
    await own.remove();
  }
}

function* textsOf(store: RawStore, table: string): Iterable<[string, string]> {
  for (const { key, value } of store.bytesOf(table)) {
    yield [String(key), value.length === 0 ? '' : unseal(value, `${table} ${key}`).toString('latin1')];
  }
}
