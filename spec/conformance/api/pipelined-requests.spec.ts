import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { CORE } from '../../../src/http/request/route.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN } from '../../support/api-client.ts';
import { CountingStore } from '../../support/counting-store.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { HOST, NAMESPACE, storedName, storeObjects } from '../../support/stored-objects.ts';

const REQUESTS = 300;
/** The bytes of one event: the kernel buffers some megabytes for a client that does not read. */
const BYTES = 200_000;

describe('pipelined requests for events on one connection', () => {
  let store: CountingStore;
  const backend = perSuite(() => InProcessBackend.start({ through: (inner) => (store = new CountingStore(inner)) }));
  const admin = perSuite(() => backend.login());

  it('are read as their answers are taken, and all answers arrive complete and in order', async () => {
    await storeObjects(backend.store, 'events', { from: 0, to: REQUESTS, bytes: BYTES });
    const login = await admin.request({ method: 'GET', path: '/auth', headers: { authorization: basicHeader(ADMIN) } });
    const names = Array.from({ length: REQUESTS }, (_, n) => storedName(n));
    const requests = names.map((name, n) =>
      [
        `GET ${CORE}/namespaces/${NAMESPACE}/events/${HOST}/${name} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${String(at(login.json, 'access_token'))}`,
        `Connection: ${n === REQUESTS - 1 ? 'close' : 'keep-alive'}\r\n\r\n`,
      ].join('\r\n'),
    );
    const begin = await store.settledReads();
    const socket = connect(backend.apiPort, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(requests.join(''));
    const untaken = (await store.settledReads()) - begin;
    const answers = await text(socket);
    const all = (await store.settledReads()) - begin;
    expect(untaken)
      .to.be.above(0)
      .and.below(all / 2);
    const bodies = answers.split(/HTTP\/1\.1 200 OK\r\n.*?\r\n\r\n/s).slice(1);
    const checks = bodies.map((body) => at(JSON.parse(body), 'check') as { output: string });
    expect(checks.map((check) => at(check, 'metadata', 'name'))).to.deep.equal(names);
    for (const { output } of checks) expect(output).to.have.length(BYTES);
  });
});
