import { expect } from 'chai';
import type { WriteSet } from '../../../src/store/commit/transactional-store.ts';
import { ApiClient } from '../../support/api-client.ts';
import { agentEntity, checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const DOWN_MS = 30_000;
const FULL_MS = 20_000;
/** Longer than the time between two attempts to write. */
const PROBED_MS = 2_000;
const TTL_S = 60;

/** A disk that may be full, or have room for the records of probes only. */
class FullDisk extends FailingStore {
  acceptsProbesOnly = false;

  override async write(set: WriteSet): Promise<void> {
    if (this.acceptsProbesOnly && set.ledger.length > 0) throw new Error('no space left on device');
    await super.write(set);
  }
}

describe('F13: a backend that starts on a full disk', () => {
  /** The store of the last start, and whether the next one begins on a full disk. */
  let store: FullDisk;
  let isFull = false;
  const backend = perTest(() => {
    isFull = false;
    return RestartableBackend.start({
      through: (inner) => {
        store = new FullDisk(inner);
        if (isFull) store.failUntilHealed();
        return store;
      },
    });
  });
  const key = perTest(async () => {
    const admin = await backend.login();
    const { headers } = await admin.post('/api/core/v2/apikeys', { username: 'admin' });
    await admin.put('/ns/default/events/p1/before', proxyEvent('p1', 'before'));
    const metadata = { name: 'scheduled', namespace: 'default' };
    const check = { metadata, command: 'true', subscriptions: ['linux'], interval: 10, publish: true };
    await admin.post('/ns/default/checks', check);
    const agent = await backend.connect({ name: 'a1', subscriptions: ['linux'] });
    agent.send('keepalive', keepalive('a1', { entity: agentEntity('a1', { subscriptions: ['linux'] }) }));
    agent.send('event', checkEvent('a1', 'guarded', { interval: 10, ttl: TTL_S }));
    await agent.ping();
    return { authorization: `Key ${String(headers.location).split('/').at(-1)}` };
  });
  const api = perTest(
    () => Promise.resolve({ clients: [] as ApiClient[] }),
    ({ clients }) => {
      for (const client of clients) client.close();
    },
  );

  async function request(method: string, path: string, body?: unknown) {
    const client = new ApiClient(backend.apiPort);
    api.clients.push(client);
    return client.request({ method, path, headers: { authorization: key.authorization }, body });
  }
  const put = async (check: string): Promise<number> =>
    (await request('PUT', `/ns/default/events/p1/${check}`, proxyEvent('p1', check))).status;
  const get = (path: string) => request('GET', path);
  const startsRecorded = async (): Promise<number> => {
    const { json } = await get('/api/mon/v1/ledger?actor=backend&limit=1000');
    return (at(json, 'entries') as { event: string }[]).filter(({ event }) => event === 'process.started').length;
  };

  async function startOnFullDisk(): Promise<void> {
    await backend.halt();
    await backend.clock.advance(DOWN_MS);
    isFull = true;
    await backend.resume();
    await backend.clock.advance(FULL_MS);
  }

  async function freeSpace(): Promise<void> {
    store.heal();
    await backend.clock.advance(PROBED_MS);
  }

  it('serves reads, answers writes with 503, and refuses agents', async () => {
    await startOnFullDisk();
    expect((await get('/ns/default/events/p1/before')).status).to.equal(200);
    expect((await get('/ns/default/checks')).json).to.have.length(1);
    expect(at((await get('/health')).json, 'ClusterHealth', 0, 'Healthy')).to.equal(false);
    expect(await put('while-full')).to.equal(503);
    const refusal = await backend.connect({ name: 'a1' }).catch((error: unknown) => error);
    expect(refusal).to.have.property('status', 500);
  });

  it('accepts writes and agents without a restart when there is space, and records its start once', async () => {
    const before = await startsRecorded();
    await startOnFullDisk();
    expect(await startsRecorded()).to.equal(before);
    await freeSpace();
    expect(await put('after')).to.equal(200);
    expect((await get('/ns/default/events/p1/while-full')).status).to.equal(404);
    expect(await startsRecorded()).to.equal(before + 1);
    await backend.connect({ name: 'a1', subscriptions: ['linux'] });
  });

  it('records its start when the first writes after it fail too', async () => {
    const before = await startsRecorded();
    await startOnFullDisk();
    store.acceptsProbesOnly = true;
    await freeSpace();
    expect(await startsRecorded()).to.equal(before);
    store.acceptsProbesOnly = false;
    await freeSpace();
    expect(await startsRecorded()).to.equal(before + 1);
  });

  it('runs its schedules when there is space', async () => {
    await startOnFullDisk();
    await freeSpace();
    const agent = await backend.connect({ name: 'a1', subscriptions: ['linux'] });
    await backend.clock.advance(11_000);
    expect(at(await agent.next('check_request'), 'config', 'metadata', 'name')).to.equal('scheduled');
  });

  it('raises no alert for the time on the full disk, and one when the check stays silent after it', async () => {
    await startOnFullDisk();
    await freeSpace();
    const statusOf = async (): Promise<unknown> =>
      at((await get('/ns/default/events/a1/guarded')).json, 'check', 'status');
    await backend.clock.advance((TTL_S - 5) * 1_000);
    expect(await statusOf()).to.equal(0);
    await backend.clock.advance(10_000);
    expect(await statusOf()).to.equal(1);
  });
});
