import dns from 'node:dns';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { AssetFailed } from '../../src/assets/asset-failed.ts';
import type { AssetManagerOptions } from '../../src/assets/asset-manager.ts';
import { mayReach } from '../../src/assets/target-policy.ts';
import { type AllowedNetwork, parseAllowedNetwork } from '../../src/resources/ip-network.ts';
import { perTest } from '../support/fixture.ts';
import { listenLocally, portOf } from '../support/local-server.ts';
import { SELF_SIGNED } from '../support/self-signed-certificate.ts';
import { toolAsset } from './archive-builder.ts';
import { AssetInstallation } from './asset-installation.ts';
import { assetOf, AssetServer, sha512Of } from './asset-server.ts';

const ARCHIVE = toolAsset();
const SHA512 = sha512Of(ARCHIVE);
const networks = (...texts: string[]): AllowedNetwork[] => texts.map(parseAllowedNetwork);

const LINK_LOCAL = ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', 'fd00:ec2::254', '100.100.100.200'];
const INTERNAL = [
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  'fd12::1',
];
const INTERNET = ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '64:ff9b::808:808'];

describe('A4: the target of a download', () => {
  const reaches = (address: string, isRedirect: boolean, ...allowed: string[]): boolean =>
    mayReach({ address, port: 80 }, { allowed: networks(...allowed), isRedirect, reached: undefined });

  it('may be any server but cloud metadata in the URL, and one of the internet in a redirect', () => {
    for (const address of INTERNET)
      expect([reaches(address, false), reaches(address, true)]).to.deep.equal([true, true]);
    for (const address of INTERNAL)
      expect([reaches(address, false), reaches(address, true)]).to.deep.equal([true, false]);
    for (const address of LINK_LOCAL)
      expect([reaches(address, false), reaches(address, true)]).to.deep.equal([false, false]);
    for (const text of ['', 'localhost', '1.2.3', '127.1']) expect(reaches(text, false), text).to.equal(false);
  });

  it('is restricted by a list, in the URL and in a redirect', () => {
    for (const isRedirect of [false, true]) {
      for (const address of INTERNET) {
        expect(reaches(address, isRedirect, '10.0.0.0/8'), address).to.equal(false);
        expect(reaches(address, isRedirect, '10.0.0.0/8', 'public'), address).to.equal(true);
        expect(reaches(address, isRedirect, 'any'), address).to.equal(true);
      }
      for (const address of INTERNAL) {
        expect(reaches(address, isRedirect, 'public'), address).to.equal(false);
        expect(reaches(address, isRedirect, 'any'), address).to.equal(true);
        expect(reaches(address, isRedirect, address), address).to.equal(true);
      }
      for (const address of LINK_LOCAL) {
        expect(reaches(address, isRedirect, 'any', 'public', '10.0.0.0/8'), address).to.equal(false);
        expect(reaches(address, isRedirect, address), address).to.equal(true);
      }
    }
  });

  it('may be the server itself in a redirect, and its port of https', () => {
    const redirect = (reached: number, port: number, address = '10.1.2.3') =>
      mayReach(
        { address, port },
        { allowed: [], isRedirect: true, reached: { address: '::ffff:10.1.2.3', port: reached } },
      );
    expect(redirect(8080, 8080)).to.equal(true);
    expect(redirect(80, 443)).to.equal(true);
    expect(redirect(8080, 443)).to.equal(false);
    expect(redirect(8080, 8081)).to.equal(false);
    expect(redirect(8080, 8080, '10.1.2.4')).to.equal(false);
  });
});

describe('A4: a download', () => {
  const installation = perTest(() => AssetInstallation.start());
  const other = perTest(() => AssetServer.start());

  async function reasonOf(url: string, options: Partial<AssetManagerOptions> = {}, sha512 = SHA512): Promise<string> {
    const result = await installation.install(assetOf('a', { url, sha512 }), options);
    if (!(result instanceof AssetFailed)) return 'installed';
    const left = (await readdir(installation.cacheDir)).filter((name) => name !== 'assets.db');
    expect(left, 'what a refused asset leaves').to.deep.equal([]);
    return result.reason;
  }

  it('is refused with a wrong checksum, and leaves nothing', async () => {
    installation.server.serve('/a', ARCHIVE);
    const reason = await reasonOf(installation.server.url('/a'), {}, sha512Of('another'));
    expect(reason).to.match(/^could not validate downloaded asset "a" \(\d+ B\): sha512 of downloaded asset \(/);
    expect(reason).to.contain(
      `(${SHA512}) does not match specified sha512 in asset definition (${sha512Of('another')})`,
    );
  });

  it('is refused for a URL and for a redirect to anything but http and https', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/x', 'data:text/plain,x', 'gopher://127.0.0.1/']) {
      installation.server.redirect('/moved', url);
      for (const from of [url, installation.server.url('/moved')]) {
        expect(await reasonOf(from), url).to.match(
          /^error fetching asset: Get ".*": protocol \w+: is not http or https$/,
        );
      }
    }
  });

  it('is refused for a redirect to a private, loopback or link-local address', async () => {
    other.serve('/a', ARCHIVE);
    const [lan] = Object.values(networkInterfaces()).flatMap(
      (found) => found?.filter(({ internal }) => !internal) ?? [],
    );
    const hosts = [
      '127.0.0.1',
      '127.0.0.2',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
    ];
    for (const host of [
      ...hosts,
      '0.0.0.0',
      '169.254.169.254',
      '10.0.0.1',
      ...(lan?.family === 'IPv4' ? [lan.address] : []),
    ]) {
      installation.server.redirect('/moved', `http://${host}:${other.port}/a`);
      expect(await reasonOf(installation.server.url('/moved')), host).to.match(
        /target \S+ port \d+ is not allowed, see --assets-allowed-networks$/,
      );
    }
    expect(other.requests).to.deep.equal([]);
  });

  it('may be redirected on its own server, and to what a list allows', async () => {
    const { server } = installation;
    other.serve('/a', ARCHIVE);
    server.serve('/a', ARCHIVE);
    server.redirect('/moved', '/a', 307);
    server.redirect('/away', other.url('/a'), 301);
    expect(await reasonOf(server.url('/moved'))).to.equal('installed');
    expect(server.paths).to.deep.equal(['/moved', '/a']);
    const cacheDir = `${installation.outside}/other`;
    expect(await reasonOf(server.url('/away'), { cacheDir, allowed: networks('127.0.0.0/8') })).to.equal('installed');
    expect(other.requests).to.have.length(1);
  });

  it('is refused for a URL outside a list, before a request is sent', async () => {
    installation.server.serve('/a', ARCHIVE);
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = `http://${host}:${installation.server.port}/a`;
      expect(await reasonOf(url, { allowed: networks('public') })).to.contain('is not allowed');
    }
    expect(installation.server.requests).to.deep.equal([]);
  });

  it('is refused for cloud metadata, whatever the form of its address', async () => {
    for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '2852039166']) {
      expect(await reasonOf(`http://${host}/latest/`, { allowed: networks('any') }), host).to.contain('is not allowed');
    }
  });

  it('is refused for a redirect to a name that leads to a private address', async () => {
    other.serve('/a', ARCHIVE);
    installation.server.redirect('/moved', `http://rebinding.test:${other.port}/a`);
    await withAddresses([['127.0.0.1'], ['127.0.0.1']], async () => {
      expect(await reasonOf(installation.server.url('/moved'))).to.contain('target 127.0.0.1');
    });
    expect(other.requests).to.deep.equal([]);
  });

  it('uses the address of a name that was checked, not that of a later answer', async () => {
    other.serve('/a', ARCHIVE);
    // Nothing listens on 127.0.0.2.
    const answers = [['127.0.0.2', '127.0.0.1'], ['127.0.0.1']];
    await withAddresses(answers, async () => {
      const allowed = networks('127.0.0.2');
      const reason = await reasonOf(`http://rebinding.test:${other.port}/a`, { allowed });
      expect(reason).to.contain('dial tcp 127.0.0.2');
    });
    expect(answers).to.deep.equal([['127.0.0.1']]);
    expect(other.requests).to.deep.equal([]);
  });

  it('sends the headers of an asset to its own server only', async () => {
    const { server } = installation;
    server.serve('/a', ARCHIVE);
    server.redirect('/same', '/a');
    server.redirect('/other', other.url('/a'));
    const headers = { Authorization: 'Bearer secret', 'X-Token': 'secret' };
    const asset = (path: string) => assetOf('a', { url: server.url(path), sha512: SHA512, headers });
    await installation.install(asset('/same'));
    expect(server.requests[1]?.headers).to.include({ authorization: 'Bearer secret', 'x-token': 'secret' });
    await installation.install(asset('/other'), {
      cacheDir: `${installation.outside}/other`,
      allowed: networks('any'),
    });
    expect(other.requests[0]?.headers).not.to.have.any.keys('authorization', 'x-token');
  });

  it('sends the user and the password of a URL, and shows neither in errors', async () => {
    const { server } = installation;
    const url = server.url('/missing?token=secret').replace('//', '//user:p%40ss@');
    expect(await reasonOf(url)).to.equal('error fetching asset: Response Code 404');
    expect(server.requests[0]?.headers.authorization).to.equal(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    const refused = await reasonOf('http://user:secret@127.0.0.1:1/x?token=secret');
    expect(refused).to.match(
      /^error fetching asset: Get "http:\/\/127\.0\.0\.1:1\/x\?\.\.\.": dial tcp 127\.0\.0\.1:1: connect: connection refused/,
    );
    for (const bad of ['http://u:secret@a:x/?secret', 'http://u:s@ecret@[/']) {
      expect(await reasonOf(bad))
        .to.match(/is not a valid URL$/)
        .and.not.to.match(/secret/);
    }
  });

  it('is refused when it is larger than 512 MiB, by its announcement', async () => {
    installation.server.serve('/large', (_request, response) => {
      response.writeHead(200, { 'content-length': 2 ** 29 + 1 }).flushHeaders();
    });
    expect(await reasonOf(installation.server.url('/large'))).to.contain('larger than 536870912 bytes');
  });
});

/** Gives the name `rebinding.test` the next addresses at each look-up. */
async function withAddresses(answers: string[][], use: () => Promise<void>): Promise<void> {
  const { lookup } = dns;
  const replaced = (host: string, options: object, callback: (...result: unknown[]) => void): void => {
    if (host !== 'rebinding.test') lookup(host, options, callback as never);
    else
      process.nextTick(() =>
        callback(
          null,
          answers.shift()?.map((address) => ({ address, family: 4 })),
        ),
      );
  };
  dns.lookup = replaced as never;
  try {
    await use();
  } finally {
    dns.lookup = lookup;
  }
}

describe('a download over TLS', () => {
  const installation = perTest(() => AssetInstallation.start());

  it('trusts the authorities of --trusted-ca-file beside the usual ones', async () => {
    const server = createTlsServer(SELF_SIGNED, (_request, response) => response.end(ARCHIVE));
    await listenLocally(server);
    try {
      const asset = assetOf('a', { url: `https://localhost:${portOf(server)}/a`, sha512: SHA512 });
      const refused = await installation.install(asset);
      expect(refused).to.be.instanceOf(AssetFailed);
      expect((refused as AssetFailed).reason).to.match(/self-signed certificate/);
      expect(await installation.install(asset, { trustedCa: SELF_SIGNED.cert })).to.be.a('string');
    } finally {
      server.close();
    }
  });
});

describe('a download through a proxy of the environment', () => {
  const installation = perTest(() => AssetInstallation.start());
  const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];
  const saved = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));
  const asked: string[] = [];
  let proxy: Server;

  beforeEach(async () => {
    asked.length = 0;
    proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end(ARCHIVE);
    });
    proxy.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      const [, port] = request.url?.split(':') ?? [];
      const target = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
      target.on('error', () => socket.destroy());
    });
    await listenLocally(proxy);
    for (const name of VARIABLES) delete process.env[name];
  });

  afterEach(() => {
    for (const name of VARIABLES) {
      if (saved[name] === undefined) delete process.env[name];
      else process.env[name] = saved[name];
    }
    proxy.closeAllConnections();
    proxy.close();
  });

  it('asks it for the URL, also when its scheme is left out', async () => {
    for (const value of [`http://127.0.0.1:${portOf(proxy)}`, `127.0.0.1:${portOf(proxy)}`]) {
      process.env['HTTP_PROXY'] = value;
      const cacheDir = `${installation.outside}/${asked.length}`;
      const asset = assetOf('a', { url: 'http://assets.invalid/a.tgz', sha512: SHA512 });
      expect(await installation.install(asset, { cacheDir })).to.be.a('string');
    }
    expect(asked).to.deep.equal(['GET http://assets.invalid/a.tgz', 'GET http://assets.invalid/a.tgz']);
  });

  it('asks it for a tunnel to a server of https', async () => {
    const server = createTlsServer(SELF_SIGNED, (_request, response) => response.end(ARCHIVE));
    await listenLocally(server);
    try {
      process.env['https_proxy'] = `http://127.0.0.1:${portOf(proxy)}`;
      const asset = assetOf('a', { url: `https://localhost:${portOf(server)}/a`, sha512: SHA512 });
      expect(await installation.install(asset, { trustedCa: SELF_SIGNED.cert })).to.be.a('string');
      expect(asked).to.deep.equal([`CONNECT localhost:${portOf(server)}`]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('does not ask it for hosts in no_proxy', async () => {
    process.env['http_proxy'] = `http://127.0.0.1:${portOf(proxy)}`;
    process.env['no_proxy'] = '127.0.0.1,example.org';
    expect(await installation.install(installation.server.asset('a', ARCHIVE))).to.be.a('string');
    expect(asked).to.deep.equal([]);
  });

  it('does not ask it for addresses that are refused, nor for names that have only these', async () => {
    process.env['http_proxy'] = `http://127.0.0.1:${portOf(proxy)}`;
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254']) {
      const asset = assetOf('a', { url: `http://${host}/x`, sha512: SHA512 });
      const result = await installation.install(asset, { allowed: networks('public') });
      expect((result as AssetFailed).reason, host).to.contain('is not allowed');
    }
    expect(asked).to.deep.equal([]);
  });
});
