import { open } from 'lmdb';

/** Measures the milliseconds to read each record of the store once: the lower bound of a start. */
const { directory } = JSON.parse(process.argv[2] ?? '{}') as { directory: string };
const startedAt = performance.now();
const root = open<Buffer, string>({ path: directory, encoding: 'binary', readOnly: true, maxDbs: 16 });
let bytes = 0;
for (const name of ['entities', 'events']) {
  const table = root.openDB<Buffer, string>({ name, encoding: 'binary' });
  for (const { value } of table.getRange({ snapshot: false })) bytes += value.length;
}
const scanMs = performance.now() - startedAt;
if (bytes === 0) throw new Error(`there are no records in ${directory}`);
await root.close();
process.send?.(scanMs, () => process.exit(0));
