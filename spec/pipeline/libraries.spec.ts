import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Libraries } from '../../src/pipeline/libraries.ts';
import { RunEnded } from '../../src/pipeline/run-ended.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('the JavaScript libraries of assets', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  function write(path: string, text: string): void {
    const file = join(directory.path, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  }

  const asset = (name: string) => ({ name, directory: join(directory.path, name) });

  async function failure(name: string): Promise<unknown> {
    try {
      return await new Libraries().of([asset(name)]);
    } catch (error) {
      if (error instanceof RunEnded) return error.result;
      throw error;
    }
  }

  it('are all files below lib whose names end with .js, in the order of the assets and their paths', async () => {
    write('one/lib/z.js', 'z');
    write('one/lib/a/b.js', 'b');
    write('one/lib/readme.md', 'no');
    write('one/bin/c.js', 'no');
    write('two/lib/two.js', 'two');
    mkdirSync(join(directory.path, 'none'));
    const sources = await new Libraries().of([asset('one'), asset('none'), asset('two')]);
    expect(sources).to.deep.equal(['b', 'z', 'two']);
  });

  it('are read once', async () => {
    write('one/lib/a.js', 'a');
    const libraries = new Libraries();
    await libraries.of([asset('one')]);
    rmSync(asset('one').directory, { recursive: true });
    expect(await libraries.of([asset('one')])).to.deep.equal(['a']);
  });

  it('have at most 200 files and 1 MiB, beyond which the run fails', async () => {
    for (let n = 0; n <= 200; n += 1) write(`many/lib/${n}.js`, '');
    write('large/lib/a.js', 'x'.repeat(1024 * 1024 + 1));
    const reason = (name: string, what: string) =>
      `asset "${name}" has more than ${what}, which is the limit of a filter's asset`;
    const failed = { outcome: 'failed', status: undefined };
    expect(await failure('many')).to.deep.equal({ ...failed, reason: reason('many', '200 files of JavaScript') });
    expect(await failure('large')).to.deep.equal({ ...failed, reason: reason('large', '1048576 bytes of JavaScript') });
  });
});
