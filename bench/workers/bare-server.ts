import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';

/** The raw limit of the machine: a bare server that stores each body durably and answers with 200. */
const directory = mkdtempSync(join(tmpdir(), 'mon-bare-'));
const database = open<Buffer, string>({
  path: directory,
  encoding: 'binary',
  overlappingSync: false,
  eventTurnBatching: false,
});
let waiting: { key: string; body: Buffer; done: () => void }[] = [];
let writing = false;

async function flush(): Promise<void> {
  writing = true;
  await new Promise((resolve) => setImmediate(resolve));
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await database.batch(() => {
      for (const { key, body } of batch) void database.put(key, body);
    });
    for (const { done } of batch) done();
  }
  writing = false;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const done = (): void => {
      response.writeHead(200, { 'Content-Length': body.length }).end(body);
    };
    waiting.push({ key: request.url ?? '', body, done });
    if (!writing) void flush();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => {
  void database.close().then(() => {
    rmSync(directory, { recursive: true, force: true });
    process.exit(0);
  });
});
