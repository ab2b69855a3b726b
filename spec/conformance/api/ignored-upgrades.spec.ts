import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const upgradeTo = (protocol: string): string => `Connection: Upgrade, close\r\nUpgrade: ${protocol}\r\n`;
const H2C = `Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n`;
const BODY = '{"username":"admin"}';

/** Requests on one connection, which the server closes after the last. */
const REQUESTS: readonly [string, string][] = [
  ['h2c, as curl --http2 sends it', `GET /ready HTTP/1.1\r\nHost: x\r\n${H2C}\r\n`],
  ['h2c with a login', `GET /auth/test HTTP/1.1\r\nHost: x\r\nAuthorization: ${basicHeader(ADMIN)}\r\n${H2C}\r\n`],
  [
    'h2c with a body',
    `POST /auth/token HTTP/1.1\r\nHost: x\r\n${H2C}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  ],
  ['h2c at the path of the inspector', `GET /debug/inspect HTTP/1.1\r\nHost: x\r\n${H2C}\r\n`],
  ['TLS', `GET /ready HTTP/1.1\r\nHost: x\r\n${upgradeTo('TLS/1.2')}\r\n`],
  ['a WebSocket elsewhere', `GET /ready HTTP/1.1\r\nHost: x\r\n${upgradeTo('websocket')}\r\n`],
  [
    'h2c behind another request',
    `GET /version HTTP/1.1\r\nHost: x\r\n\r\nGET /ready HTTP/1.1\r\nHost: x\r\n${H2C}\r\n`,
  ],
];

describe('a request with the header Upgrade', () => {
  const [plain, inspected] = [false, true].map((inspect) =>
    perSuite(() => InProcessBackend.start({ configure: (config) => ({ ...config, inspect }) })),
  );

  async function answersOf(backend: InProcessBackend | undefined, requests: string): Promise<string> {
    const socket = connect(backend?.apiPort ?? 0, '127.0.0.1');
    socket.write(requests);
    return (await text(socket)).replaceAll(/^Date: .*\r\n/gm, '');
  }

  for (const [what, requests] of REQUESTS) {
    it(`for ${what} has the same answer with --inspect as without`, async () => {
      const expected = await answersOf(plain, requests);
      expect(expected).to.match(/^HTTP\/1\.1 \d{3} /);
      expect(await answersOf(inspected, requests)).to.equal(expected);
    });
  }
});
