import { chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { AssetCache } from '../../src/assets/asset-cache.ts';
import { acquireLock } from '../../src/assets/fetch-lock.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { toolAsset } from './archive-builder.ts';
import { AssetInstallation } from './asset-installation.ts';
import { sha512Of } from './asset-server.ts';
import { InstallProcess } from './install-process.ts';

const SHA512 = 'ab'.repeat(64);
const DAY_MS = 86_400_000;
const signal = new AbortController().signal;

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('the cache of assets', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const cacheOf = (clock = new ManualClock()) => new AssetCache(directory.path, { clock, log: new RecordedLog() });
  const at = (name: string): string => join(directory.path, name);

  async function aged(path: string, days: number, nowMs: number): Promise<void> {
    const time = new Date(nowMs - days * DAY_MS);
    await utimes(path, time, time);
  }

  it('shows an asset only when it is complete', async () => {
    const cache = cacheOf();
    const seen: (string | undefined)[] = [];
    const installed = await cache.install(SHA512, signal, async (work) => {
      seen.push(await cache.find(SHA512));
      await mkdir(join(work, 'content'));
      await writeFile(join(work, 'content/file'), 'x');
      seen.push(await cache.find(SHA512));
      return join(work, 'content');
    });
    expect(seen).to.deep.equal([undefined, undefined]);
    expect(await cache.find(SHA512)).to.equal(installed);
    expect((await readdir(directory.path)).toSorted()).to.deep.equal([SHA512, 'assets.db']);
  });

  it('keeps nothing of an asset that failed', async () => {
    const failed = await cacheOf()
      .install(SHA512, signal, async (work) => {
        await mkdir(join(work, 'content'));
        throw new Error('damaged');
      })
      .catch((error: Error) => error.message);
    expect(failed).to.equal('damaged');
    expect(await readdir(directory.path)).to.deep.equal(['assets.db']);
  });

  it('keeps the asset of the process that was first', async () => {
    const cache = cacheOf();
    const path = await cache.install(SHA512, signal, async (work) => {
      await mkdir(join(work, 'content'));
      await writeFile(join(work, 'content/second'), 'x');
      await mkdir(at(SHA512));
      await writeFile(at(`${SHA512}/first`), 'x');
      return join(work, 'content');
    });
    expect(await readdir(path)).to.deep.equal(['first']);
  });

  it('records a use once a day', async () => {
    const clock = new ManualClock();
    const cache = cacheOf(clock);
    await mkdir(at(SHA512));
    const timeOf = async () => Math.round((await stat(at(SHA512))).mtimeMs);
    await aged(at(SHA512), 0.9, clock.nowMs());
    const before = await timeOf();
    await cache.find(SHA512);
    expect(await timeOf()).to.equal(before);
    await aged(at(SHA512), 1.1, clock.nowMs());
    await cache.find(SHA512);
    expect(await timeOf()).to.equal(clock.nowMs());
  });

  it('loses assets that were not used for 30 days, and files that dead processes left', async () => {
    const clock = new ManualClock();
    const cache = cacheOf(clock);
    const names = ['aa', 'bb', 'cc', 'dd'].map((pair) => pair.repeat(64));
    const [unused = '', used = '', working = '', dead = ''] = names;
    const left = [unused, used, `${working}.lock`, `${dead}.lock`, `${dead}.purged.11111111-2222`];
    for (const name of left) await mkdir(at(`${name}/bin`), { recursive: true });
    for (const name of ['queue', 'other']) await mkdir(at(name));
    const days = { [unused]: 30.1, [used]: 29.9, [`${working}.lock`]: 0.5, queue: 400, other: 400 };
    for (const [name, age] of Object.entries(days)) await aged(at(name), age, clock.nowMs());
    for (const name of left.slice(3)) await aged(at(name), 1.1, clock.nowMs());
    await cache.purge();
    expect((await readdir(directory.path)).toSorted()).to.deep.equal(
      [used, `${working}.lock`, 'assets.db', 'other', 'queue'].toSorted(),
    );
  });

  it('is purged once a day, by one of its processes', async () => {
    const clock = new ManualClock();
    await cacheOf(clock).purge();
    await mkdir(at(SHA512));
    await aged(at(SHA512), 31, clock.nowMs());
    await cacheOf(clock).purge();
    expect(await exists(at(SHA512))).to.equal(true);
    await clock.advance(DAY_MS);
    await cacheOf(clock).purge();
    expect(await exists(at(SHA512))).to.equal(false);
  });

  it('need not exist before the first asset, and is not created by a purge', async () => {
    await rm(directory.path, { recursive: true });
    await cacheOf().purge();
    expect(await exists(directory.path)).to.equal(false);
    expect(await cacheOf().find(SHA512)).to.equal(undefined);
  });

  it('that cannot be written is named in the failure', async () => {
    const installation = await AssetInstallation.start();
    try {
      await mkdir(installation.cacheDir);
      await writeFile(join(installation.outside, 'file'), '');
      const cacheDir = join(installation.outside, 'file', 'cache');
      const failure = await installation.install(installation.server.asset('a', toolAsset()), { cacheDir });
      expect(failure)
        .to.have.property('reason')
        .that.matches(/ENOTDIR.*file\/cache/);
      await chmod(installation.cacheDir, 0o700);
    } finally {
      await installation.stop();
    }
  });
});

describe('the lock of an asset', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const isDone = () => Promise.resolve(false);
  const path = () => join(directory.path, 'asset.lock');

  it('is waited for while its owner runs, and taken when it is released', async () => {
    const clock = systemClock;
    const first = await acquireLock({ path: path(), clock, signal, isDone });
    let second: unknown;
    const waiting = acquireLock({ path: path(), clock, signal, isDone }).then((lock) => (second = lock));
    await delay(600);
    expect(second).to.equal(undefined);
    await first?.release();
    await (await waiting)?.release();
    expect(await exists(path())).to.equal(false);
  });

  it('is taken over when its owner has not moved for ten seconds', async () => {
    const clock = new ManualClock();
    await mkdir(join(path(), 'work-of-the-dead'), { recursive: true });
    const taking = acquireLock({ path: path(), clock, signal, isDone });
    await eventually(async () => {
      await clock.advance(1_000);
      return clock.monotonicMs() >= 9_000;
    });
    expect(await readdir(path())).to.deep.equal(['work-of-the-dead']);
    const taken = await eventually(async () => {
      await clock.advance(1_000);
      return Promise.race([taking, delay(20).then(() => undefined)]);
    });
    expect(await readdir(path())).to.deep.equal([taken?.workDirectory.split('/').at(-1)]);
    await taken?.release();
    expect(await readdir(directory.path)).to.deep.equal([]);
  });

  it('does not remove the work of the process that took it over', async () => {
    const lost = await acquireLock({ path: path(), clock: systemClock, signal, isDone });
    await rm(path(), { recursive: true });
    const taken = await acquireLock({ path: path(), clock: systemClock, signal, isDone });
    await lost?.release();
    expect(await exists(taken?.workDirectory ?? '')).to.equal(true);
    await taken?.release();
  });

  it('is no longer waited for when the signal is aborted', async () => {
    await mkdir(path());
    const reason = new Error('enough');
    const controller = new AbortController();
    const waiting = acquireLock({ path: path(), clock: systemClock, signal: controller.signal, isDone });
    controller.abort(reason);
    expect(await waiting.catch((error: unknown) => error)).to.equal(reason);
  });
});

describe('processes that share a cache', function () {
  this.timeout(60_000);
  const installation = perTest(() => AssetInstallation.start());
  const ARCHIVE = toolAsset();

  const start = (path: string): InstallProcess =>
    new InstallProcess({
      cacheDir: installation.cacheDir,
      url: installation.server.url(path),
      sha512: sha512Of(ARCHIVE),
    });

  it('download an asset once when they need it at the same time', async () => {
    const { server } = installation;
    server.serve('/a', (_request, response) => void delay(1_500).then(() => response.end(ARCHIVE)));
    const processes = [start('/a'), start('/a')];
    const results = await Promise.all(processes.map(({ result }) => result));
    const directory = join(installation.cacheDir, sha512Of(ARCHIVE));
    expect(results.map((result) => result?.directory)).to.deep.equal([directory, directory]);
    expect(server.requests).to.have.length(1);
    expect((await readdir(installation.cacheDir)).toSorted()).to.deep.equal(
      [sha512Of(ARCHIVE), 'assets.db'].toSorted(),
    );
  });

  it('take over from one that was killed during an installation, which leaves nothing that looks complete', async () => {
    const { server, cacheDir } = installation;
    server.serve('/a', (_request, response) => {
      if (server.requests.length > 1) response.end(ARCHIVE);
      else response.write(ARCHIVE.subarray(0, 20));
    });
    const killed = start('/a');
    await eventually(() => server.requests.length > 0, Boolean, { withinMs: 20_000 });
    await delay(200);
    killed.kill();
    await killed.result;
    expect((await readdir(cacheDir)).toSorted()).to.have.members([`${sha512Of(ARCHIVE)}.lock`, 'assets.db']);
    const result = await start('/a').result;
    expect(result?.directory).to.equal(join(cacheDir, sha512Of(ARCHIVE)));
    expect(result?.ms).to.be.within(10_000, 30_000);
    expect((await readdir(cacheDir)).toSorted()).to.have.members([sha512Of(ARCHIVE), 'assets.db']);
  });
});
