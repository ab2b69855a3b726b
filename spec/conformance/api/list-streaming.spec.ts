import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { storeDirectory } from '../../../src/main/process/directories.ts';
import { CORE } from '../../../src/http/request/route.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN, ApiClient } from '../../support/api-client.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { CountingStore } from '../../support/counting-store.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { type StoredKind, storeObjects } from '../../support/stored-objects.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function authorization(port: number): Promise<string> {
  const client = new ApiClient(port);
  const { json } = await client.request({
    method: 'GET',
    path: '/auth',
    headers: { authorization: basicHeader(ADMIN) },
  });
  client.close();
  return `Bearer ${String(at(json, 'access_token'))}`;
}

/**
 * An answer that is not read until the test asks for it. It has a connection of its own, because the kernel buffers tens of megabytes
 * of a connection whose client has read fast.
 */
async function answerOf(port: number, path: string): Promise<IncomingMessage> {
  const headers = { authorization: await authorization(port) };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).on('error', reject).end();
  });
}

describe('a long list', () => {
  /** One for each way to build a list. */
  const KINDS: readonly StoredKind[] = ['events', 'entities', 'checks', 'silenced', 'apikeys', 'users'];
  const OBJECTS = 1_000;
  /** Thirty megabytes: the kernel buffers a part of it for a client that does not read. */
  const BYTES = 30_000;
  let store: CountingStore;
  const backend = perSuite(() => InProcessBackend.start({ through: (inner) => (store = new CountingStore(inner)) }));

  before(async () => {
    for (const kind of KINDS) await storeObjects(backend.store, kind, { from: 0, to: OBJECTS, bytes: BYTES });
  });

  /** Half of the records of the list; an entity has two. */
  const halfOf = (kind: StoredKind): number => (kind === 'entities' ? OBJECTS : OBJECTS / 2);

  const complaints = () => backend.log.lines.filter(({ level }) => level === 'error' || level === 'warn');

  for (const kind of KINDS) {
    it(`of ${kind} is produced while it is read, and complete at the end`, async () => {
      const begin = await store.settledReads();
      const answer = await answerOf(backend.apiPort, `${CORE}/${kind}`);
      expect(answer.statusCode).to.equal(200);
      expect((await store.settledReads()) - begin).to.be.below(halfOf(kind));
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      const items = JSON.parse(Buffer.concat(parts).toString()) as unknown[];
      expect(items.length).to.be.at.least(OBJECTS);
    });

    it(`of ${kind} is not produced after its client has disconnected`, async () => {
      const complained = complaints();
      const begin = await store.settledReads();
      const answer = await answerOf(backend.apiPort, `${CORE}/${kind}`);
      const reading = await store.settledReads();
      answer.destroy();
      expect(await store.settledReads()).to.be.below(reading + OBJECTS / 10);
      expect(reading - begin).to.be.below(halfOf(kind));
      expect(complaints()).to.deep.equal(complained);
    });
  }
});

describe('a long list of a backend with little memory', () => {
  const EVENTS = 8_000;
  const BYTES = 5_000;
  const LIST_MB = (EVENTS * BYTES) / 1e6;
  /** Collects garbage, so that only needed memory is measured. */
  const SMALL_HEAP = { NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=80' };
  /** The parts of the answer between two measurements of the memory. */
  const PARTS = 50;

  it('is sent to a slow client without being held in memory', async () => {
    const directory = await temporaryDirectory();
    const stateDir = join(directory.path, 'state');
    let backend: BackendProcess | undefined;
    try {
      await initialiseState(stateDir);
      const store = new LmdbStore({ directory: storeDirectory(stateDir), sync: 'none' });
      await storeObjects(store, 'events', { from: 0, to: EVENTS, bytes: BYTES });
      await store.close();
      backend = await BackendProcess.start({ stateDir, environment: SMALL_HEAP });
      const { pid } = backend;
      const answer = await answerOf(backend.apiPort, `${CORE}/events`);
      const begin = ownMemoryMb(pid);
      let [most, parts, bytes] = [begin, 0, 0];
      for await (const part of answer) {
        bytes += (part as Buffer).length;
        parts += 1;
        if (parts % PARTS !== 0) continue;
        most = Math.max(most, ownMemoryMb(pid));
        await delay(1);
      }
      expect(bytes / 1e6).to.be.above(LIST_MB);
      expect(most - begin).to.be.below(LIST_MB / 2);
    } finally {
      await backend?.stop();
      await directory.remove();
    }
  });
});

/** The memory of the process without mapped files, which the kernel reclaims when needed. */
function ownMemoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}
