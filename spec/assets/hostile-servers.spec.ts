import { createServer, type Server, type Socket } from 'node:net';
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { AssetFailed } from '../../src/assets/asset-failed.ts';
import { perTest } from '../support/fixture.ts';
import { listenLocally, portOf } from '../support/local-server.ts';
import { toolAsset } from './archive-builder.ts';
import { AssetInstallation } from './asset-installation.ts';
import { assetOf, sha512Of } from './asset-server.ts';

const ARCHIVE = toolAsset();
const OK = 'HTTP/1.1 200 OK\r\n';

/** What servers answer that mean no good. */
const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
  nothing: (socket) => socket.destroy(),
  'no HTTP': (socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'),
  'headers without end': (socket) => socket.end(`${OK}x: ${'y'.repeat(100_000)}`),
  'a body shorter than its length': (socket) => socket.end(`${OK}content-length: 1000\r\n\r\nx`),
  'a body longer than its length': (socket) => socket.end(`${OK}content-length: 1\r\n\r\nxxxxxxxx`),
  'a negative length': (socket) => socket.end(`${OK}content-length: -5\r\n\r\nx`),
  'two lengths': (socket) => socket.end(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`),
  'a length beyond all numbers': (socket) => socket.end(`${OK}content-length: ${'9'.repeat(40)}\r\n\r\nx`),
  'wrong chunks': (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\nx`),
  'a cut of chunks': (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n`),
  'a redirect to nowhere': (socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: http://\r\ncontent-length: 0\r\n\r\n'),
  'a redirect without a target': (socket) => socket.end('HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n'),
  'a redirect and a reset': (socket) =>
    socket.write('HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 99\r\n\r\nx', () =>
      socket.resetAndDestroy(),
    ),
  'a switch of protocols': (socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'a hint and nothing': (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
};

describe('A4: a server that answers with', () => {
  const installation = perTest(() => AssetInstallation.start());
  let server: Server;
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);

  beforeEach(() => {
    process.on('uncaughtExceptionMonitor', note);
    process.on('unhandledRejection', note);
  });

  afterEach(() => {
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
    server.close();
  });

  for (const [what, answer] of Object.entries(ANSWERS)) {
    it(`${what} is a failure of the asset, and nothing else`, async () => {
      server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => answer(socket));
      });
      await listenLocally(server);
      const asset = assetOf('a', { url: `http://127.0.0.1:${portOf(server)}/a`, sha512: sha512Of(ARCHIVE) });
      const result = await installation.install(asset);
      expect(result).to.be.instanceOf(AssetFailed);
      expect((result as AssetFailed).reason).to.match(/^error (fetching|downloading) asset: .|^could not validate/);
      expect(await readdir(installation.cacheDir)).to.deep.equal(['assets.db']);
      await new Promise((resolve) => setImmediate(resolve));
      expect(failures).to.deep.equal([]);
    });
  }
});
