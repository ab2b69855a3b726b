import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CertificateAuthority } from '../support/certificate-authority.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const dockerFile = (name: string): string => fileURLToPath(new URL(`../../packaging/docker/${name}`, import.meta.url));
const ENTRYPOINT = dockerFile('entrypoint.sh');
const HEALTH_CHECK = dockerFile('healthcheck.cjs');

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

  it('of mon-backend gets the flags of the store for init too', () => {
    standIn('mon-backend');
    const env = { PATH: path(), MON_BACKEND_CLUSTER_ADMIN_PASSWORD: 'secret' };
    const flags = [
      '--log-level',
      'info',
      '-d',
      '/a b',
      '--config-file=/c.yml',
      '--api-url',
      'x',
      '--control-socket',
      's',
    ];
    expect(spawnSync('sh', [ENTRYPOINT, 'mon-backend', 'start', ...flags], { env }).status).to.equal(0);
    const shared = '-d /a b --config-file=/c.yml --control-socket s';
    expect(calls()).to.equal(
      `mon-backend init --wait --ignore-already-initialized ${shared} secret\nmon-backend start ${flags.join(' ')} none\n`,
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

describe('the health check of the container', function () {
  this.timeout(30_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  /** Resolves with the exit code. */
  const check = async (port: number): Promise<unknown> => {
    const env = { ...process.env, MON_BACKEND_API_LISTEN_ADDRESS: `[::]:${port}` };
    const [code] = (await once(spawn(process.execPath, [HEALTH_CHECK], { env }), 'exit')) as [unknown];
    return code;
  };

  it('passes for a healthy backend with and without TLS, and fails when none runs', async () => {
    const { certFile, keyFile } = new CertificateAuthority(directory.path, 'ca').issue('localhost');
    for (const args of [[], ['--cert-file', certFile, '--key-file', keyFile]]) {
      const backend = await BackendProcess.start({ args });
      const port = backend.apiPort;
      try {
        expect(await check(port)).to.equal(0);
      } finally {
        await backend.stop();
      }
      expect(await check(port)).to.equal(1);
    }
  });
});
