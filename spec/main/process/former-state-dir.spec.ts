import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { assertNoFormerStore } from '../../../src/main/process/former-state-dir.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('a start without a state directory of its own (rule of 5.1.0)', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const start = (hasDefaultStateDir = true): void => {
    assertNoFormerStore({ stateDir: join(directory.path, 'mon-backend'), hasDefaultStateDir }, directory.path);
  };

  it('ends when the former default directory has a store and the new one has none', async () => {
    await mkdir(join(directory.path, 'store'));
    expect(() => {
      start();
    }).to.throw(`found data in the former default state directory ${directory.path}; set state-dir to it`);
  });

  it('starts when a directory is configured', async () => {
    await mkdir(join(directory.path, 'store'));
    start(false);
  });

  it('starts when the new directory has a store, or no directory has one', async () => {
    start();
    await mkdir(join(directory.path, 'store'));
    await mkdir(join(directory.path, 'mon-backend/store'), { recursive: true });
    await writeFile(join(directory.path, 'mon-backend/store/data.mdb'), '');
    start();
  });

  it('ends when the new directory has only what a command has left that found no store', async () => {
    await mkdir(join(directory.path, 'store'));
    await mkdir(join(directory.path, 'mon-backend/store'), { recursive: true });
    await writeFile(join(directory.path, 'mon-backend/store/lock'), '');
    expect(() => {
      start();
    }).to.throw('found data in the former default state directory');
  });
});
