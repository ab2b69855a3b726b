import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { ensureDirectory } from '../../../src/main/process/ensure-directory.ts';
import { mistakesOf } from '../../config/mistakes.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Shared } from './ensure-directories-thread.ts';

const FULL = () => 4_096;

/** A thread does not load TypeScript itself. */
const THREAD = `import('tsx/esm/api').then(({ tsImport }) =>
  tsImport(${JSON.stringify(new URL('ensure-directories-thread.ts', import.meta.url))}, ${JSON.stringify(import.meta.url)}))`;

describe('the directory of a store', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('is created with its parents, for its owner only', () => {
    const path = join(directory.path, 'a', 'b');
    ensureDirectory('state-dir', path, 'store');
    ensureDirectory('state-dir', path, 'store');
    expect(statSync(join(path, 'store')).mode & 0o777).to.equal(0o700);
  });

  it('is created by several threads at the same time', async () => {
    const arrivals = new Int32Array(new SharedArrayBuffer(4));
    const workerData: Shared = { arrivals, threads: 2, parent: directory.path, directories: 200 };
    const create = async () => {
      const thread = new Worker(THREAD, { eval: true, workerData });
      expect(await once(thread, 'exit')).to.deep.equal([0]);
    };
    await Promise.all([create(), create()]);
    expect(readdirSync(directory.path)).to.have.length(200);
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
