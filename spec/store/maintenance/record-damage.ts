import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import type { TableName } from '../../../src/store/records/records.ts';

/** Changes the last byte of each record, the first of its table where no key is given. Returns `<table>/<key>` of all of them. */
export async function damageRecords(
  directory: string,
  records: readonly (readonly [TableName, string?])[],
  bits = 1,
): Promise<string[]> {
  const root = openEnvironment({ directory, sync: 'full' });
  const names: string[] = [];
  for (const [name, known] of records) {
    const table = textTable(root, name);
    const key = known ?? [...table.getKeys({ limit: 1 })][0];
    const stored = key === undefined ? undefined : table.get(key);
    if (key === undefined || stored === undefined) throw new Error(`${name} has no ${key ?? 'record'}`);
    const bytes = Buffer.from(stored);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ bits;
    await table.put(key, bytes);
    names.push(`${name}/${key}`);
  }
  await root.close();
  return names;
}
