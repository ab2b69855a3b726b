import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { FetchFailed } from '../../src/assets/asset-failed.ts';
import { unpack } from '../../src/assets/unpack.ts';
import { perSuite } from '../support/fixture.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type ArchiveMember, extendedHeader, tarArchive } from './archive-builder.ts';

const SEED = 20_261_123;
const ARCHIVES = 100;
const MAX_CHANGES = 12;
const NAMES = ['a', 'd', 'd/b', '../x', '/tmp/x', 'd/../..', 'l', 'l/x', '.', '', 'd/'];
const RECORDS = ['path', 'linkpath', 'size', 'mode', 'type', 'mtime', 'nlink', 'comment', '__proto__', 'resume'];
const VALUES = ['../x', '-1', '0', '1e9', 'NaN', '99999999999999999999', 'd', '/tmp/x', '', 'SymbolicLink', '\0'];
const TYPES = ['0', '1', '2', '3', '5', '6', '7', 'x', 'g', 'L', 'K', 'S', 'V', '\0', 'D', 'Z'];

describe('A3: archives of random entries and random damage', function () {
  this.timeout(120_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const random = new SeededRandom(SEED);
  const one = (list: readonly string[]): string => list[random.below(list.length)] ?? '';

  function randomArchive(): Buffer {
    const members = Array.from({ length: 1 + random.below(8) }, (): ArchiveMember[] => {
      const content = 'x'.repeat(random.below(3) * 300);
      const member = { path: one(NAMES), type: one(TYPES), link: one(NAMES), mode: random.below(0o10000), content };
      return random.below(3) === 0 ? [extendedHeader(one(RECORDS), one(VALUES)), member] : [member];
    });
    const archive = tarArchive(members.flat());
    if (random.below(2) === 0) return archive;
    for (let change = random.below(MAX_CHANGES); change >= 0; change -= 1) {
      archive[random.below(archive.length)] = random.below(256);
    }
    return archive;
  }

  it('are unpacked or refused, and write nothing outside their directory', async () => {
    let refused = 0;
    for (let n = 0; n < ARCHIVES; n += 1) {
      const archive = randomArchive();
      const parent = join(directory.path, 'parent');
      await mkdir(join(parent, 'content'), { recursive: true });
      await writeFile(join(parent, 'archive'), random.below(2) === 0 ? archive : gzipSync(archive));
      const error = await unpack(join(parent, 'archive'), join(parent, 'content'), new AbortController().signal).then(
        () => undefined,
        (failure: unknown) => failure,
      );
      if (error !== undefined) {
        refused += 1;
        expect(error).to.be.instanceOf(FetchFailed);
      }
      expect(await readdir(parent)).to.have.members(['archive', 'content']);
      expect(await readdir(directory.path)).to.deep.equal(['parent']);
      const special = execFileSync('find', [join(parent, 'content'), '-perm', '/6000', '-o', '-type', 'b,c,p,s']);
      expect(special.toString()).to.equal('');
      await rm(parent, { recursive: true });
    }
    expect(refused).to.be.within(ARCHIVES / 4, ARCHIVES - 1);
  });
});
