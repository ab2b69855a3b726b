import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { agentEvent } from '../support/agent-events.ts';
import { percentile } from '../support/measured.ts';

export interface RawPage {
  records: number;
  items: number;
}

const PAGES = 500;
const WRITTEN_AT_ONCE = 5_000;
const { records, items } = JSON.parse(process.argv[2] ?? '{}') as RawPage;

/** Measures the time, p99 in milliseconds, to convert the first records of a bare LMDB to one JSON text. */
const directory = mkdtempSync(join(tmpdir(), 'mon-raw-page-'));
const database = open<Buffer, string>({ path: directory, encoding: 'binary', noSync: true });
const value = Buffer.from(JSON.stringify(agentEvent('agent-0', 'check-0')));
for (let first = 0; first < records; first += WRITTEN_AT_ONCE) {
  await database.batch(() => {
    for (let index = first; index < first + WRITTEN_AT_ONCE; index += 1) void database.put(`default/${index}`, value);
  });
}
const latenciesMs: number[] = [];
let bytes = 0;
for (let page = 0; page < PAGES; page += 1) {
  const beganAt = performance.now();
  const found = [...database.getRange({ limit: items })].map(
    (record) => JSON.parse(record.value.toString()) as unknown,
  );
  bytes += JSON.stringify(found).length;
  latenciesMs.push(performance.now() - beganAt);
}
await database.close();
rmSync(directory, { recursive: true, force: true });
if (bytes < PAGES * items * value.length) throw new Error('a page was incomplete');
latenciesMs.sort((a, b) => a - b);
process.send?.(percentile(latenciesMs, 0.99), () => process.exit(0));
