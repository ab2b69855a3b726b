import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, readlink, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { unpack } from '../../src/assets/unpack.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type ArchiveMember, extendedHeader, tarArchive, tarGzArchive, tarHeader } from './archive-builder.ts';

const DIRECTORY: ArchiveMember = { path: 'd/', type: '5', mode: 0o755 };

describe('an archive', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const content = (...path: string[]): string => join(directory.path, 'content', ...path);

  /** Unpacks, and returns the message of the failure. */
  async function failureOf(archive: Buffer, signal = new AbortController().signal): Promise<string> {
    await writeFile(join(directory.path, 'archive'), archive);
    await mkdir(content());
    try {
      await unpack(join(directory.path, 'archive'), content(), signal);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  async function expectUnpacked(archive: Buffer): Promise<void> {
    expect(await failureOf(archive)).to.equal('');
  }

  /** Expects that nothing was written, neither beside the archive nor anywhere else. */
  async function expectRefused(members: readonly ArchiveMember[], rule: RegExp): Promise<void> {
    for (const build of [tarArchive, tarGzArchive]) {
      expect(await failureOf(build(members)))
        .to.match(/^error extracting asset: /)
        .and.to.match(rule);
      expect(await readdir(content())).to.deep.equal([]);
      expect((await readdir(directory.path)).toSorted()).to.deep.equal(['archive', 'content']);
      await rmdir(content());
    }
  }

  it('of tar itself is unpacked as it was, with links and modes', async () => {
    const source = join(directory.path, 'source');
    await mkdir(join(source, 'bin'), { recursive: true });
    await mkdir(join(source, 'lib/deep/er'), { recursive: true });
    await writeFile(join(source, 'bin/tool'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(source, 'lib/deep/er/secret'), 'x'.repeat(200_000), { mode: 0o600 });
    await mkdir(join(source, 'lib', 'long'.repeat(20)));
    await writeFile(join(source, 'lib', 'long'.repeat(20), 'long'.repeat(20)), 'é');
    await writeFile(join(source, 'lib/größe'), '');
    execFileSync('ln', ['-s', '../bin/tool', join(source, 'lib/tool')]);
    execFileSync('ln', ['-s', 'missing', join(source, 'lib/dangling')]);
    execFileSync('ln', [join(source, 'bin/tool'), join(source, 'bin/same')]);
    for (const format of ['gnu', 'pax', 'ustar']) {
      const archive = execFileSync('tar', ['-C', source, `--format=${format}`, '-cz', '.']);
      await rm(content(), { recursive: true, force: true });
      await expectUnpacked(archive);
      expect(execFileSync('diff', ['-r', '--no-dereference', source, content()], { encoding: 'utf8' })).to.equal('');
      expect((await stat(content('lib/deep/er/secret'))).mode & 0o777).to.equal(0o600);
      expect((await stat(content('bin/tool'))).mode & 0o777).to.equal(0o755);
      expect((await stat(content('bin/same'))).ino).to.equal((await stat(content('bin/tool'))).ino);
      expect(await readlink(content('lib/tool'))).to.equal('../bin/tool');
      expect((await lstat(content('lib/dangling'))).isSymbolicLink()).to.equal(true);
    }
  });

  it('needs no entries for its directories, and may have them twice', async () => {
    const file: ArchiveMember = { path: './a//b/./c.txt', content: 'deep' };
    await expectUnpacked(tarGzArchive([{ path: '.', type: '5' }, DIRECTORY, DIRECTORY, file]));
    expect(await readFile(content('a/b/c.txt'), 'utf8')).to.equal('deep');
  });

  it('may be a directory with a set-group-id bit, which is left out', async () => {
    await expectUnpacked(tarArchive([{ ...DIRECTORY, mode: 0o2775 }]));
    expect((await stat(content('d'))).mode & 0o7000).to.equal(0);
  });

  it('is recognised by its content, not by its name, and refused when the content is not an archive', async () => {
    expect(await failureOf(Buffer.from('PK\u0003\u0004'.padEnd(300)))).to.match(/format 'application\/zip'/);
    await rmdir(content());
    expect(await failureOf(Buffer.from('text'))).to.equal("given file of format '' does not appear valid");
  });

  it('is refused when it is truncated, damaged or compressed twice', async () => {
    const whole = tarArchive([{ path: 'a', content: 'x'.repeat(2_000) }]);
    const damaged = Buffer.from(whole);
    damaged.write('b', 0);
    const archives = [whole.subarray(0, 1_500), damaged, gzipSync(whole).subarray(0, 60), gzipSync(gzipSync(whole))];
    for (const archive of archives) {
      expect(await failureOf(archive)).to.match(/^error extracting asset: ./);
      expect(await readdir(content())).to.deep.equal([]);
      await rmdir(content());
    }
  });

  it('is abandoned when it is no longer needed', async () => {
    const reason = new Error('enough');
    expect(await failureOf(tarGzArchive([{ path: 'a' }]), AbortSignal.abort(reason))).to.match(/enough$/);
  });

  describe('A3: that would write outside its directory', () => {
    const inside: ArchiveMember = { path: 'before', content: 'x' };

    it('is refused for .. in a path', async () => {
      for (const path of [
        '../escaped',
        'd/../../escaped',
        'd/..',
        '..',
        './../escaped',
        'd/../../../../../../../tmp/escaped',
      ]) {
        await expectRefused([inside, DIRECTORY, { path, content: 'x' }], /has \.\. in its path/);
      }
      await expectRefused([inside, extendedHeader('path', '../escaped'), { path: 'harmless' }], /has \.\. in its path/);
    });

    it('is refused for an absolute path', async () => {
      for (const path of ['/tmp/escaped', '//tmp/escaped']) {
        await expectRefused([inside, { path, content: 'x' }], /has an absolute path/);
      }
    });

    it('is refused for a symbolic link that leads out', async () => {
      const targets = ['..', '../..', '/etc', '/etc/passwd', 'd/../../x', './..', 'd/../..'];
      for (const link of targets) {
        await expectRefused([inside, DIRECTORY, { path: 'l', type: '2', link }], /links to/);
      }
      await expectRefused(
        [inside, extendedHeader('linkpath', '../../x'), { path: 'l', type: '2', link: 'd' }],
        /links to/,
      );
    });

    it('is refused for symbolic links that lead out together', async () => {
      const members = [
        { path: 's/t/u', type: '2', link: '../..' },
        { path: 'out', type: '2', link: 's/t/u/../..' },
      ];
      await expectRefused(members, /"out" links to a path outside the archive/);
      await expectRefused(members.toReversed(), /"out" links to a path outside the archive/);
    });

    it('is refused for symbolic links in a circle, and for too many on the way', async () => {
      await expectRefused(
        [
          { path: 'a', type: '2', link: 'b' },
          { path: 'b', type: '2', link: 'a' },
        ],
        /links in a circle/,
      );
      const chain = Array.from({ length: 60 }, (_, n) => ({ path: `l${n}`, type: '2', link: `l${n + 1}` }));
      await expectRefused(chain, /links in a circle/);
    });

    it('is refused for an entry below a symbolic link', async () => {
      const members: ArchiveMember[] = [DIRECTORY, { path: 'l', type: '2', link: 'd' }];
      await expectRefused([...members, { path: 'l/file', content: 'x' }], /is below "l", which is not a directory/);
      await expectRefused([...members, { path: 'l', type: '5' }], /is below "l", which is not a directory/);
      await expectRefused([...members, { path: 'l/l2', type: '2', link: 'x' }], /is below "l"/);
    });

    it('is refused for a hard link to anything but a file of the archive', async () => {
      const targets = ['/etc/passwd', '../x', 'missing', 'd', 'l', 'd/../../x'];
      for (const link of targets) {
        const members = [DIRECTORY, { path: 'l', type: '2', link: 'd' }, { path: 'h', type: '1', link }];
        await expectRefused(members, /links to .*, which is not a file|has \.\. in its path|has an absolute path/);
      }
    });

    it('is refused for a device, a pipe and other types', async () => {
      for (const [type, name] of Object.entries({
        3: 'CharacterDevice',
        4: 'BlockDevice',
        6: 'FIFO',
        S: 'SparseFile',
      })) {
        await expectRefused([inside, { path: 'node', type }], new RegExp(`has type ${name}, which is not supported`));
      }
    });

    it('is refused for a file that changes the user or the group', async () => {
      for (const mode of [0o4755, 0o2755, 0o6755]) {
        await expectRefused([inside, { path: 'tool', mode, content: 'x' }], /has a set-user-id or set-group-id bit/);
      }
      await expectUnpacked(tarArchive([extendedHeader('mode', String(0o4755)), { path: 'tool' }]));
      expect((await stat(content('tool'))).mode & 0o7000).to.equal(0);
    });

    it('is refused for the same path twice', async () => {
      await expectRefused([inside, inside], /file already exists/);
      await expectRefused([inside, { path: 'before', type: '2', link: 'x' }], /file already exists/);
      await expectRefused([inside, { path: 'before/below' }], /is below "before", which is not a directory/);
    });

    it('is refused for a path that is too long, and for a name that is too long', async () => {
      await expectRefused([extendedHeader('path', 'd/'.repeat(600)), { path: 'x' }], /has too long a path/);
      await expectRefused([extendedHeader('path', 'é'.repeat(130)), { path: 'x' }], /has too long a name/);
      await expectRefused(
        [extendedHeader('linkpath', 'd/'.repeat(600)), { path: 'x', type: '2', link: 'd' }],
        /too long/,
      );
    });

    it('is refused for more than 1 GiB, before its content is read', async () => {
      const header = tarHeader({ path: 'zeros', sizeBytes: 2 ** 30 + 1 });
      expect(await failureOf(header)).to.match(/"zeros" and those before it have more than 1073741824 bytes$/);
      expect(await readdir(content())).to.deep.equal([]);
    });

    it('is refused for an extended header that is larger than 1 MiB', async () => {
      await expectRefused([{ path: 'x', type: 'x', content: Buffer.alloc(2 ** 20 + 1, 'a') }], /not supported/);
    });

    it('holds the event loop for less than 100 ms with links that take long to follow', async () => {
      const detour = 'd/'.repeat(40) + '../'.repeat(40);
      const links = Array.from({ length: 4_000 }, (_, n) => {
        const link = `${detour}${n % 30 === 29 ? 'end' : `l${n + 1}`}`;
        return [extendedHeader('linkpath', link), { path: `l${n}`, type: '2', link: 'x' }];
      }).flat();
      const archive = tarGzArchive(links);
      let longestMs = 0;
      // The time of the processor, because other programs may delay this one.
      let last = process.cpuUsage();
      const timer = setInterval(() => {
        const { user, system } = process.cpuUsage(last);
        longestMs = Math.max(longestMs, (user + system) / 1_000);
        last = process.cpuUsage();
      }, 1);
      const failure = await failureOf(archive);
      clearInterval(timer);
      expect(failure).to.match(/and those before it link too often/);
      expect(longestMs).to.be.below(100);
    });
  });
});
