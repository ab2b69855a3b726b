import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ENTRYPOINT = fileURLToPath(new URL('../../packaging/docker/entrypoint.sh', import.meta.url));

describe('a stand-in in PATH', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const calls = (): string => readFileSync(join(directory.path, 'calls'), 'utf8');

  /** Adds a command that records its arguments, and whether it has the password of the administrator. */
  function standIn(name: string): void {
    const script = `#!/bin/sh\necho "${name} $* \${MON_BACKEND_CLUSTER_ADMIN_PASSWORD:-none}" >> '${directory.path}/calls'\n`;
    writeFileSync(join(directory.path, name), script, { mode: 0o755 });
  }

  const path = (): string => `${directory.path}:${process.env['PATH']}`;

  it('of mon-backend is initialised and then started by the entrypoint of the container, without the password', () => {
    standIn('mon-backend');
    const env = { PATH: path(), MON_BACKEND_CLUSTER_ADMIN_PASSWORD: 'secret' };
    expect(spawnSync('sh', [ENTRYPOINT, 'mon-backend', 'start', '--log-level', 'info'], { env }).status).to.equal(0);
    expect(calls()).to.equal(
      'mon-backend init --wait --ignore-already-initialized secret\nmon-backend start --log-level info none\n',
    );
  });

  it('of another command is started alone by the entrypoint of the container', () => {
    standIn('mon-agent');
    expect(spawnSync('sh', [ENTRYPOINT, 'mon-agent', 'start'], { env: { PATH: path() } }).status).to.equal(0);
    expect(calls()).to.equal('mon-agent start none\n');
  });

  it('of systemd-notify is notified that the backend is ready, where the unit requests that', async () => {
    standIn('systemd-notify');
    const backend = await BackendProcess.start({ environment: { PATH: path(), NOTIFY_SOCKET: '/run/none' } });
    try {
      const recorded = await eventually(
        () => Promise.resolve(spawnSync('cat', [join(directory.path, 'calls')], { encoding: 'utf8' }).stdout),
        (text) => text !== '',
      );
      expect(recorded).to.equal(`systemd-notify --ready --pid=${backend.pid} none\n`);
    } finally {
      await backend.stop();
    }
  });
});
