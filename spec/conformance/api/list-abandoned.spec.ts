import { expect } from 'chai';
import { request } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { CORE } from '../../../src/http/request/route.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN } from '../../support/api-client.ts';
import { CountingStore } from '../../support/counting-store.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { type StoredKind, storeObjects } from '../../support/stored-objects.ts';

const OBJECTS = 20_000;

describe('a search or a count', () => {
  const KINDS: readonly StoredKind[] = ['events', 'checks'];
  let store: CountingStore;
  const backend = perSuite(() => InProcessBackend.start({ through: (inner) => (store = new CountingStore(inner)) }));
  const admin = perSuite(() => backend.login());

  before(async () => {
    for (const kind of [...KINDS, 'entities'] as const) {
      await storeObjects(backend.store, kind, { from: 0, to: OBJECTS });
    }
  });

  /** The number of records that were read when reading has ended. */
  async function readsAtRest(): Promise<number> {
    let before = -1;
    await eventually(
      () => [before, (before = store.reads)],
      ([earlier, now]) => earlier === now,
      { everyMs: 50 },
    );
    return store.reads;
  }

  /** Sends a request and disconnects after this many objects have been examined. */
  async function readsOfAbandoned(path: string, looked: number, port = backend.apiPort): Promise<number> {
    const login = await admin.request({ method: 'GET', path: '/auth', headers: { authorization: basicHeader(ADMIN) } });
    const headers = { authorization: `Bearer ${String(at(login.json, 'access_token'))}` };
    const begin = await readsAtRest();
    const outgoing = request({ host: '127.0.0.1', port, path, headers });
    outgoing.on('error', () => undefined).end();
    while (store.reads < begin + looked) await nextTick();
    outgoing.destroy();
    return (await readsAtRest()) - begin;
  }

  for (const [kind, limit] of KINDS.flatMap((each) => [[each, '0'] as const, [each, '1'] as const])) {
    it(`that finds nothing in ${kind} with limit=${limit} ends when the client disconnects`, async () => {
      const query = new URLSearchParams({ labelSelector: 'rare == never', limit });
      const reads = await readsOfAbandoned(`${CORE}/${kind}?${query.toString()}`, 500);
      expect(reads).to.be.below(OBJECTS / 2);
    });
  }

  it('of actors by state ends when the client disconnects', async () => {
    expect(await readsOfAbandoned('/api/mon/v1/actor-counts', 500)).to.be.below(OBJECTS / 2);
  });

  for (const path of ['/subscriptions', '/subscriptions/none', '/metrics']) {
    it(`of ${path} of the earlier dashboard ends when the client disconnects`, async () => {
      expect(await readsOfAbandoned(path, 500, backend.dashboardPort)).to.be.below(OBJECTS / 2);
    });
  }
});
