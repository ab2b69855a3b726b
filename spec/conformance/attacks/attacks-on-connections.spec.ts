import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { perSuite } from '../../support/fixture.ts';

const REQUESTS = 1_500;
/** Requests without credentials. */
const PATHS = ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/openapi.json'];
/** The time between two measurements of the memory. */
const QUESTIONS = 20;
const LOOKS = 10;
/** One answer to each request would take two gigabytes. */
const MAX_GROWTH_MB = 100;

describe('a connection without credentials that sends requests without end and reads nothing', () => {
  const backend = perSuite(() => BackendProcess.start());

  for (const path of PATHS) {
    it(`costs little memory and does not delay other clients: ${path}`, async () => {
      const other = new ApiClient(backend.apiPort);
      await other.get(path);
      const socket = connect(backend.apiPort, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      try {
        const begin = ownMemoryMb(backend.pid);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(REQUESTS));
        for (let look = 0; look < LOOKS; look += 1) {
          for (let n = 0; n < QUESTIONS; n += 1) expect((await other.get('/version')).status).to.equal(200);
          expect(ownMemoryMb(backend.pid) - begin).to.be.below(MAX_GROWTH_MB);
        }
      } finally {
        socket.destroy();
        other.close();
      }
    });
  }
});

/** The memory of the process without mapped files. */
function ownMemoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}
