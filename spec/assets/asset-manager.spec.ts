import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type InstalledAsset, assetEnvironment } from '../../src/assets/asset-environment.ts';
import { AssetFailed } from '../../src/assets/asset-failed.ts';
import { runCommand } from '../../src/exec/process-group.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { perTest } from '../support/fixture.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { tarArchive, toolAsset } from './archive-builder.ts';
import { AssetInstallation, directoryOrFailure } from './asset-installation.ts';
import { assetOf, sha512Of } from './asset-server.ts';

const run = async (command: string, assets: readonly InstalledAsset[]): Promise<string> =>
  (await runCommand({ command, environment: assetEnvironment(assets) }, systemClock)).output;

const reasonOf = (failure: string | AssetFailed): string =>
  failure instanceof AssetFailed ? failure.reason : `no failure, but ${failure}`;

describe('an asset', () => {
  const installation = perTest(() => AssetInstallation.start());

  it('is downloaded once, and its tools run by their names', async () => {
    const { server, cacheDir } = installation;
    const asset = server.asset('acme/tool', toolAsset());
    const manager = installation.manager();
    const installed = await manager.install([asset]);
    expect(installed).to.deep.equal([{ name: 'acme/tool', directory: `${cacheDir}/${asset.sha512}` }]);
    expect(await run('tool.sh a b', installed)).to.equal('good a b\n');
    expect(await run('echo "$ACME_TOOL_PATH"', installed)).to.equal(`${cacheDir}/${asset.sha512}\n`);
    await manager.install([asset]);
    await installation.manager().install([assetOf('other-name', { url: asset.url, sha512: asset.sha512 })]);
    expect(server.paths).to.deep.equal(['/acme-tool.tgz']);
  });

  it('may be a tar archive without compression', async () => {
    const archive = tarArchive([{ path: 'bin/tool.sh', mode: 0o755, content: '#!/bin/sh\necho plain\n' }]);
    const installed = await installation.manager().install([installation.server.asset('plain', archive)]);
    expect(await run('tool.sh', installed)).to.equal('plain\n');
  });

  it('is found by a checksum in upper case, and by one with more than 128 digits', async () => {
    const { server } = installation;
    const { url, sha512 = '' } = server.asset('tool', toolAsset());
    const manager = installation.manager();
    await manager.install([assetOf('up', { url, sha512: sha512.toUpperCase() })]);
    await manager.install([assetOf('long', { url, sha512: `${sha512}00` })]);
    expect(server.requests).to.have.length(1);
  });

  it('is downloaded again when its directory was deleted', async () => {
    const { server } = installation;
    const manager = installation.manager();
    const [installed] = await manager.install([server.asset('tool', toolAsset())]);
    await rm(installed?.directory ?? '', { recursive: true });
    await manager.install([server.asset('tool', toolAsset())]);
    expect(server.requests).to.have.length(2);
  });

  it('gets its headers, a line for each value', async () => {
    const { server } = installation;
    const headers = { Authorization: 'Bearer abc', 'X-List': 'a, b,c', 'X-Empty': '', Host: 'other' };
    await installation.manager().install([server.asset('h', toolAsset(), { headers })]);
    const sent = server.requests[0]?.headersDistinct;
    expect(sent).to.deep.include({ authorization: ['Bearer abc'], 'x-list': ['a', 'b', 'c'], 'x-empty': [''] });
    expect(sent).to.deep.include({ host: [`127.0.0.1:${server.port}`] });
  });

  it('is fetched once for all that use it at the same time', async () => {
    const { server } = installation;
    const archive = toolAsset();
    const asset = server.asset('tool', archive);
    server.serve('/tool.tgz', (_request, response) => void delay(100).then(() => response.end(archive)));
    const manager = installation.manager();
    const users = Array.from({ length: 20 }, () => manager.install([asset]));
    expect(new Set((await Promise.all(users)).map(([installed]) => installed?.directory)).size).to.equal(1);
    expect(server.requests).to.have.length(1);
  });

  it('is fetched for the others when one user gives up, and aborted when all do', async () => {
    const { server } = installation;
    const archive = toolAsset();
    const asset = server.asset('tool', archive);
    let aborted = 0;
    server.serve('/tool.tgz', (_request, response) => {
      response.on('close', () => (aborted += response.writableFinished ? 0 : 1));
      void delay(150).then(() => response.end(archive));
    });
    const manager = installation.manager();
    const [impatient, last] = [new AbortController(), new AbortController()];
    const first = manager.install([asset], impatient.signal);
    const second = manager.install([asset]);
    await delay(50);
    impatient.abort(new Error('enough'));
    expect(await first.catch((error: Error) => error.message)).to.equal('enough');
    expect(await second).to.have.length(1);
    await rm(installation.cacheDir, { recursive: true });
    const third = manager.install([asset], last.signal);
    await delay(50);
    last.abort(new Error('enough'));
    expect(await third.catch((error: Error) => error.message)).to.equal('enough');
    await delay(200);
    expect(aborted).to.equal(1);
  });
});

describe('the build of an asset', () => {
  const installation = perTest(() => AssetInstallation.start());
  const LINUX = "entity.system.os == 'linux'";
  const WINDOWS = "entity.system.os == 'windows'";

  it('is the first one whose filters all hold', async () => {
    const { server } = installation;
    const buildOf = (name: string, filters: string[]) => {
      const { url = '', sha512 = '' } = server.asset(name, toolAsset(name));
      return { url, sha512, filters };
    };
    const builds = [buildOf('other', [LINUX, WINDOWS]), buildOf('good', [LINUX]), buildOf('third', [])];
    const selects = (filters: readonly string[]) => Promise.resolve(!filters.includes(WINDOWS));
    const installed = await installation
      .manager({}, { selects })
      .install([assetOf('b', { ...buildOf('top', []), builds })]);
    expect(await run('tool.sh', installed)).to.equal('good\n');
    expect(server.paths).to.deep.equal(['/good.tgz']);
  });

  it('is left out when no filters hold', async () => {
    const { server } = installation;
    const manager = installation.manager({}, { selects: () => Promise.resolve(false) });
    expect(await manager.install([server.asset('t', toolAsset(), { filters: [WINDOWS] })])).to.deep.equal([]);
    expect(server.requests).to.deep.equal([]);
    expect(assetEnvironment([])).to.deep.equal([]);
  });

  it('fails with the error of a filter', async () => {
    const selects = () => Promise.reject(new Error('ReferenceError: x is not defined'));
    const asset = installation.server.asset('t', toolAsset(), { filters: ['x'] });
    const failure = await directoryOrFailure(installation.manager({}, { selects }), asset);
    expect(failure).to.be.instanceOf(AssetFailed);
    expect((failure as AssetFailed).message).to.equal('asset "t": ReferenceError: x is not defined');
  });

  it('is selected again when the entity changes, and not for each use', async () => {
    let entity = { system: { os: 'linux' } };
    const asked: unknown[] = [];
    const selects = (_filters: readonly string[], seen: unknown) => {
      asked.push(seen);
      return Promise.resolve(seen === entity && entity.system.os === 'linux');
    };
    const manager = installation.manager({}, { selects, entity: () => entity });
    const asset = installation.server.asset('t', toolAsset(), { filters: [LINUX] });
    for (let uses = 0; uses < 3; uses += 1) expect(await manager.install([asset])).to.have.length(1);
    expect(asked).to.have.length(1);
    entity = { system: { os: 'plan9' } };
    expect(await manager.install([asset])).to.deep.equal([]);
    expect(asked).to.have.length(2);
  });
});

describe('a failed asset', () => {
  const installation = perTest(() => AssetInstallation.start());

  it('names the asset and the reason', async () => {
    const { server } = installation;
    const failure = await installation.install(assetOf('acme/t', { url: server.url('/missing'), sha512: 'x' }));
    expect(failure).to.be.instanceOf(AssetFailed);
    expect(failure).to.deep.include({ asset: 'acme/t', reason: 'error fetching asset: Response Code 404' });
    expect((failure as AssetFailed).message).to.equal('asset "acme/t": error fetching asset: Response Code 404');
  });

  it('is not fetched again at once, and later at growing intervals', async () => {
    const { server } = installation;
    const clock = new ManualClock();
    const manager = installation.manager({}, { clock });
    const asset = assetOf('t', { url: server.url('/down'), sha512: sha512Of('x') });
    const triesAfter: number[] = [];
    for (let second = 0; second < 130; second += 1) {
      expect(reasonOf(await directoryOrFailure(manager, asset))).to.match(/Response Code 404$/);
      if (server.requests.length > triesAfter.length) triesAfter.push(second);
      clock.jump(1_000);
      await clock.advance(1_000);
    }
    expect(triesAfter).to.deep.equal([0, 1, 3, 7, 15, 31, 63, 123]);
  });

  it('is fetched when the server is back, and is then no longer remembered', async () => {
    const { server } = installation;
    const clock = new ManualClock();
    const manager = installation.manager({}, { clock });
    const archive = toolAsset();
    const asset = assetOf('t', { url: server.url('/late'), sha512: sha512Of(archive) });
    expect(await directoryOrFailure(manager, asset)).to.be.instanceOf(AssetFailed);
    expect(manager.failures.used).to.equal(1);
    server.serve('/late', archive);
    await clock.advance(1_000);
    expect(await directoryOrFailure(manager, asset)).to.be.a('string');
    expect(manager.failures.used).to.equal(0);
  });

  it('is fetched again at once when it failed for want of descriptors, which says nothing about its server', async () => {
    const { server } = installation;
    const asset = server.asset('short', toolAsset());
    let fetches = 0;
    const manager = installation.manager(
      {},
      {
        measured: (step) => {
          if (step === 'fetch') fetches += 1;
          if (fetches === 1) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
        },
      },
    );
    expect(reasonOf(await directoryOrFailure(manager, asset))).to.match(/EMFILE/);
    expect(manager.failures.used).to.equal(0);
    expect(await manager.install([asset])).to.have.length(1);
  });

  it('is one beyond the rate of downloads, while installed ones are used', async () => {
    const { server } = installation;
    const manager = installation.manager({ burst: 1, tokensPerS: 0.01 });
    const asset = server.asset('a', toolAsset());
    await manager.install([asset]);
    const second = await directoryOrFailure(manager, server.asset('b', toolAsset('b')));
    expect(reasonOf(second)).to.equal("can't download asset due to rate limit");
    expect(await manager.install([asset])).to.have.length(1);
    expect(server.requests).to.have.length(1);
    expect(manager.failures.used).to.equal(0);
  });

  it('is one whose archive was sent only in part', async () => {
    const { server } = installation;
    const archive = toolAsset();
    const asset = server.asset('cut', archive);
    server.serve('/cut.tgz', (_request, response) => {
      response.writeHead(200, { 'content-length': archive.length });
      response.write(archive.subarray(0, 50), () => response.destroy());
    });
    expect(reasonOf(await installation.install(asset))).to.match(/^error downloading asset: ./);
  });

  it('is one whose archive does not arrive within ten minutes', async () => {
    const { server } = installation;
    const clock = new ManualClock();
    const asset = server.asset('slow', toolAsset());
    server.serve('/slow.tgz', (_request, response) => void response.writeHead(200).write('x'));
    const failure = directoryOrFailure(installation.manager({}, { clock }), asset);
    while (server.requests.length === 0) await delay(10);
    await delay(50);
    await clock.advance(600_000);
    expect(reasonOf(await failure)).to.match(/the asset was not installed within 600 s$/);
  });
});
