import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureDirectory } from '../../../src/main/process/ensure-directory.ts';
import { mistakesOf } from '../../config/mistakes.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const FULL = () => 4_096;

describe('the directory of a store', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('is created with its parents, for its owner only', () => {
    const path = join(directory.path, 'a', 'b');
    ensureDirectory('state-dir', path, 'store');
    ensureDirectory('state-dir', path, 'store');
    expect(statSync(join(path, 'store')).mode & 0o777).to.equal(0o700);
  });

  it('is refused on a full disk when it has no store', () => {
    const path = join(directory.path, 'a');
    const mistakes = mistakesOf(() => ensureDirectory('state-dir', path, 'store', FULL));
    expect(mistakes).to.deep.equal([
      `state-dir: cannot use the directory ${path}: ENOSPC: a new store needs 1 MiB, and the disk has 0 MiB`,
    ]);
  });

  it('is accepted on a full disk when it has a store, which can be read', () => {
    ensureDirectory('state-dir', directory.path, 'store');
    writeFileSync(join(directory.path, 'store', 'data.mdb'), '');
    expect(mistakesOf(() => ensureDirectory('state-dir', directory.path, 'store', FULL))).to.deep.equal([]);
  });
});
