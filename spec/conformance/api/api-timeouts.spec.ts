import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const WRITE_TIMEOUT_MS = 200;

describe('a connection to the REST API', () => {
  const backend = perSuite(() =>
    InProcessBackend.start({
      configure: (config) => ({ ...config, api: { ...config.api, writeTimeoutMs: WRITE_TIMEOUT_MS } }),
    }),
  );

  it('is closed without an answer after --api-write-timeout without progress', async () => {
    const socket = connect(backend.apiPort, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /api/core/v2/tessen/metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n[');
    expect(await text(socket)).to.equal('');
  });

  it('is reused for further requests', async () => {
    const socket = connect(backend.apiPort, '127.0.0.1');
    await once(socket, 'connect');
    const kept = 'GET /ready HTTP/1.1\r\nHost: x\r\n\r\n';
    const last = 'GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    socket.write(kept + kept + last);
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 200 OK/g)).to.have.lengthOf(3);
  });
});
