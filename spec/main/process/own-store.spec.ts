import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { controlSocketPath, storeDirectory } from '../../../src/main/process/directories.ts';
import { assertNotServed, ownStore } from '../../../src/main/process/own-store.ts';
import { lockStore, StoreInUse } from '../../../src/store/lmdb/store-lock.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Listens on the socket in its argument until it is killed. */
const LISTENER = "require('net').createServer().listen(process.argv[1], () => process.stdout.write('listening'))";

describe('the store of a state directory', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let server: Server | undefined;

  afterEach(() => {
    server?.close();
    server = undefined;
  });

  const errorOf = (owned: Promise<unknown>): Promise<unknown> =>
    owned.then(
      () => undefined,
      (error: unknown) => error,
    );

  async function serveControl(): Promise<void> {
    server = createServer().listen(controlSocketPath(directory.path));
    await once(server, 'listening');
  }

  it('has one owner until it is released', async () => {
    const lock = await ownStore(directory.path);
    expect(await errorOf(ownStore(directory.path))).to.be.instanceOf(StoreInUse);
    lock.release();
    (await ownStore(directory.path)).release();
  });

  it('is in use while a process serves the control socket, even when the lock is free', async () => {
    await serveControl();
    expect(await errorOf(ownStore(directory.path))).to.be.instanceOf(StoreInUse);
    lockStore(storeDirectory(directory.path)).release();
  });

  it('names the flag and its value when the store is in use', async () => {
    const lock = await ownStore(directory.path);
    const inUse = `store is in use by process ${process.pid} (--state-dir ${directory.path})`;
    expect(await errorOf(ownStore(directory.path))).to.have.property('message', inUse);
    lock.release();
    await serveControl();
    expect(await errorOf(assertNotServed(directory.path))).to.have.property('message', inUse);
  });

  it('is reported as in use without taking the lock', async () => {
    expect(await errorOf(assertNotServed(directory.path))).to.equal(undefined);
    await serveControl();
    expect(await errorOf(assertNotServed(directory.path))).to.be.instanceOf(StoreInUse);
  });

  it('is free when the process that served the control socket was killed', async () => {
    const path = controlSocketPath(directory.path);
    const killed = spawn(process.execPath, ['-e', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(killed.stdout, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(statSync(path).isSocket()).to.equal(true);
    (await ownStore(directory.path)).release();
  });

  it('is owned by a backend that answers on the control socket that was chosen, which its owner alone can open', async () => {
    const chosen = join(directory.path, 'chosen.sock');
    const backend = await InProcessBackend.start({ configure: (config) => ({ ...config, controlSocket: chosen }) });
    try {
      expect(statSync(chosen).isSocket()).to.equal(true);
      expect(statSync(chosen).mode & 0o777).to.equal(0o600);
      expect(await errorOf(assertNotServed(directory.path, chosen))).to.be.instanceOf(StoreInUse);
      expect(await errorOf(ownStore(directory.path, chosen))).to.be.instanceOf(StoreInUse);
      expect(await errorOf(assertNotServed(directory.path))).to.equal(undefined);
    } finally {
      await backend.stop();
    }
    const long = `/${'x'.repeat(107)}`;
    expect(String(await errorOf(assertNotServed(directory.path, long)))).to.contain('control-socket is too long');
  });

  it('is not owned when the control socket cannot be asked', async () => {
    const deep = `${directory.path}/${'x'.repeat(100)}`;
    mkdirSync(deep);
    expect(String(await errorOf(ownStore(deep)))).to.contain('state-dir is too long');
    lockStore(storeDirectory(deep)).release();
  });
});
