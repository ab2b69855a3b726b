import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openPages } from '../../../src/http/dashboard/pages.ts';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const INDEX = '<!doctype html><title>mon</title>';
const BRIDGE = '<!doctype html><title>hosted</title>';
const SCRIPT = 'console.log(1)';

describe('the pages of the dashboard', () => {
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let server: Server;

  before(async () => {
    await mkdir(join(directory.path, 'assets'));
    await writeFile(join(directory.path, 'index.html'), INDEX);
    await writeFile(join(directory.path, 'assets/index-1a2b.js'), SCRIPT);
    await writeFile(join(directory.path, 'assets/index-1a2b.js.br'), 'brotli');
    await writeFile(join(directory.path, 'assets/index-1a2b.js.gz'), 'gzip');
    const pages = openPages(directory.path, { inspect: false });
    server = createServer((request, response) => pages?.callback(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  after(() => {
    server.close();
  });

  function send(path: string, headers: Record<string, string> = {}, method = 'GET') {
    const { port } = server.address() as AddressInfo;
    return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      request.on('error', reject);
      request.end();
    });
  }

  it('are the index for the address of every view, which is asked for each time', async () => {
    for (const path of [
      '/',
      '/n/default/events?q=disk',
      '/n/default/events/web.example/disk',
      '/ledger',
      '/settings',
    ]) {
      const { status, text, headers } = await send(path);
      expect({ status, text }, path).to.deep.equal({ status: 200, text: INDEX });
      expect(headers).to.include({ 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' });
    }
  });

  it('are kept for a year when their name changes with their content', async () => {
    const { headers, text } = await send('/assets/index-1a2b.js');
    expect(text).to.equal(SCRIPT);
    expect(headers).to.include({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
  });

  it('are sent compressed to clients that accept it', async () => {
    const path = '/assets/index-1a2b.js';
    for (const [accepted, text] of [
      ['gzip, deflate, br', 'brotli'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['identity', SCRIPT],
    ] as const) {
      expect((await send(path, { 'accept-encoding': accepted })).text, accepted).to.equal(text);
    }
    expect((await send(path, { 'accept-encoding': 'br' })).headers).to.include({
      'content-encoding': 'br',
      vary: 'Accept-Encoding',
    });
  });

  it('have an entity tag for each encoding', async () => {
    const path = '/assets/index-1a2b.js';
    const { etag = '' } = (await send(path)).headers;
    expect((await send(path, { 'if-none-match': etag })).status).to.equal(304);
    expect((await send(path, { 'if-none-match': etag, 'accept-encoding': 'br' })).status).to.equal(200);
  });

  it('answer HEAD without a body and other methods with 405', async () => {
    const { status, text, headers } = await send('/', {}, 'HEAD');
    expect({ status, text, length: headers['content-length'] }).to.deep.equal({
      status: 200,
      text: '',
      length: String(INDEX.length),
    });
    expect((await send('/', {}, 'POST')).headers).to.include({ allow: 'GET, HEAD' });
  });

  it('do not exist under unknown names', async () => {
    for (const path of ['/assets/other.js', '/assets/../../package.json', '/assets/index-1a2b.js.br', '/unknown']) {
      expect((await send(path)).status, path).to.equal(404);
    }
  });

  it('may load and run only what this origin serves, and no inline code', async () => {
    const { 'content-security-policy': policy = '', ...headers } = (await send('/')).headers;
    expect(policy).to.contain("default-src 'none'").and.contain("script-src 'self'").and.not.contain('unsafe');
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('are none where nothing was built', () => {
    expect(openPages(join(directory.path, 'nothing'), { inspect: false })).to.equal(undefined);
  });

  describe('when the inspector is on', () => {
    const POLICY = 'content-security-policy';
    let open: Server;

    before(async () => {
      await writeFile(join(directory.path, 'bridge.html'), BRIDGE);
      const pages = openPages(directory.path, { inspect: true });
      open = createServer((request, response) => pages?.callback(request, response));
      await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve));
    });

    after(() => {
      open.close();
    });

    async function read(path: string) {
      const { port } = open.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text(), policy: response.headers.get(POLICY) ?? '' };
    }

    it('have one that gives its messages to a hosted one, and may frame that origin and no other', async () => {
      const { status, text, policy } = await read('/debug/inspect?actor=entity:default/web-1');
      expect([status, text]).to.deep.equal([200, BRIDGE]);
      const { policy: own } = await read('/machines');
      expect(policy).to.equal(`${own}; frame-src https://stately.ai`);
      expect(own).to.include("default-src 'none'").and.not.include('://');
    });

    it('have that one at no other address', async () => {
      expect((await read('/bridge.html')).status).to.equal(404);
    });

    it('have no such page when it is off', async () => {
      expect((await send('/debug/inspect')).status).to.equal(404);
    });
  });
});
