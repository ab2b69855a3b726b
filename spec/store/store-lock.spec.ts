import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { lockStore, StoreInUse } from '../../src/store/store-lock.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

describe('the lock of a store', () => {
  let directory: TemporaryDirectory;

  beforeEach(async () => {
    directory = await temporaryDirectory();
  });

  afterEach(() => directory.remove());

  it('creates the directory and leaves no files when it is released', () => {
    const path = join(directory.path, 'deep', 'store');
    lockStore(path).release();
    expect(readdirSync(path)).to.deep.equal([]);
  });

  it('rejects a second owner and names the first', () => {
    const lock = lockStore(directory.path);
    expect(() => lockStore(directory.path)).to.throw(StoreInUse, `store is in use by process ${process.pid}`);
    lock.release();
    lockStore(directory.path).release();
  });

  it('is taken over from a process that has ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    writeFileSync(join(directory.path, 'lock'), JSON.stringify({ pid: child.pid, startedAt: '1' }));
    const lock = lockStore(directory.path);
    expect(existsSync(join(directory.path, 'lock'))).to.equal(true);
    lock.release();
  });

  it('is taken over when another process now has the number of its owner', () => {
    writeFileSync(join(directory.path, 'lock'), JSON.stringify({ pid: process.pid, startedAt: '1' }));
    lockStore(directory.path).release();
  });

  it('is taken over when a crash left it incomplete', () => {
    writeFileSync(join(directory.path, 'lock'), '{"pid":');
    lockStore(directory.path).release();
  });
});
