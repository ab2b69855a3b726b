import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { failedStart, FREE, LocalRun, PROGRAM } from './local-run.ts';

describe('npm start', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const runs: LocalRun[] = [];
  const start = (settings: Readonly<Record<string, string>> = {}): LocalRun => {
    const run = new LocalRun(directory.path, settings);
    runs.push(run);
    return run;
  };
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.end();
  });
  const path = (...names: string[]): string => join(directory.path, ...names);
  const pidOf = (store: string): number =>
    (JSON.parse(readFileSync(join(store, 'lock'), 'utf8')) as { pid: number }).pid;

  it('prints its help, and refuses any other argument, before it creates anything', async () => {
    const { stdout, status } = spawnSync(process.execPath, [PROGRAM, '--help'], {
      cwd: directory.path,
      encoding: 'utf8',
    });
    expect(status).to.equal(0);
    expect(stdout)
      .to.match(/^Usage: npm start\n/)
      .and.contain('MON_BACKEND_STATE_DIR');
    const { code, printed } = await failedStart(directory.path, FREE, ['--api-port=1']);
    expect(code).to.equal(1);
    expect(printed).to.match(/^unknown argument "--api-port=1": .+ see npm start -- --help\n$/);
    expect(readdirSync(directory.path)).to.deep.equal([]);
  });

  it('names the mistakes in the settings of both programs', async () => {
    const { code, printed } = await failedStart(directory.path, { MON_BACKEND_AGENT_PORT: 'x', MON_API_PORT: 'y' });
    expect(code).to.equal(1);
    const rule = 'must be a whole number from 0 to 65535';
    expect(printed.trimEnd().split('\n')).to.deep.equal([
      'mon was not started:',
      `  the backend: invalid argument "x" for "--agent-port" in MON_BACKEND_AGENT_PORT: ${rule}`,
      `  the agent: invalid argument "y" for "--api-port" in MON_API_PORT: ${rule}`,
    ]);
    expect(readdirSync(directory.path)).to.deep.equal([]);
  });

  for (const prefix of ['MON_BACKEND', 'MON_BACKEND_DASHBOARD']) {
    it(`says before it creates anything that it does not support TLS, and how to run it: ${prefix}_CERT_FILE`, async () => {
      const pair = { [`${prefix}_CERT_FILE`]: 'cert.pem', [`${prefix}_KEY_FILE`]: 'key.pem' };
      const { code, printed } = await failedStart(directory.path, { ...FREE, ...pair });
      expect(code).to.equal(1);
      const flag = prefix === 'MON_BACKEND' ? '--cert-file' : '--dashboard-cert-file';
      expect(printed)
        .to.contain(`npm start does not support TLS (${flag});`)
        .and.contain('docs/tls.md')
        .and.contain('npx mon-agent start --backend-url wss://');
      expect(readdirSync(directory.path)).to.deep.equal([]);
    });
  }

  it('creates all of its files in the directory that MON_BACKEND_STATE_DIR names, and prints no other one', async () => {
    const stateDir = path('x', 'state');
    const run = start({ MON_BACKEND_STATE_DIR: stateDir });
    await run.api();
    expect(readdirSync(directory.path)).to.deep.equal(['x']);
    await eventually(() => existsSync(join(stateDir, 'agent-cache', 'queue')), Boolean, {
      what: 'the queue of the agent',
      withinMs: 15_000,
    });
    expect(readdirSync(stateDir)).to.include.members(['agent.log', 'backend.log', 'store']);
    expect(run.output)
      .to.contain(`its data stays in ${stateDir}\n`)
      .and.match(new RegExp(`data +${stateDir}\n`));
  });

  it('keeps its directory and its ports in the command that lets other machines connect', async () => {
    const run = start({ MON_BACKEND_STATE_DIR: path('a b') });
    await run.api();
    const command = run.output.split('\n').find((line) => line.endsWith('npm start')) ?? '';
    expect(command.trim().replace(/0\.0\.0\.0:\d+ /, '0.0.0.0:<port> ')).to.equal(
      [
        `MON_BACKEND_STATE_DIR='${path('a b')}'`,
        'MON_BACKEND_AGENT_PORT=0',
        'MON_BACKEND_DASHBOARD_PORT=0',
        'MON_BACKEND_LEGACY_API_LISTEN_ADDRESS=127.0.0.1:0',
        'MON_API_PORT=0',
        'MON_SOCKET_PORT=0',
        'MON_STATSD_METRICS_PORT=0',
        'MON_BACKEND_AGENT_HOST=0.0.0.0',
        'MON_BACKEND_DASHBOARD_HOST=0.0.0.0',
        'MON_BACKEND_API_LISTEN_ADDRESS=0.0.0.0:<port>',
        'npm start',
      ].join(' '),
    );
  });

  it('runs twice with two state directories', async () => {
    const both = ['one', 'two'].map((name) => start({ MON_BACKEND_STATE_DIR: path(name) }));
    for (const run of both) await run.api();
    for (const name of ['one', 'two'])
      await eventually(() => existsSync(path(name, 'agent-cache', 'queue', 'lock')), Boolean, {
        what: `the queue of the agent in ${name}`,
        withinMs: 15_000,
      });
  });

  it('names the store and the queue that are in use before it starts anything, with a command that avoids them', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const run = start();
      await run.api();
      await eventually(() => existsSync(path('.mon', 'agent-cache', 'queue', 'lock')), Boolean, {
        what: 'the queue of the agent',
        withinMs: 15_000,
      });
      const { code, printed } = await failedStart(directory.path, { ...FREE, MON_API_PORT: String(port) });
      expect(code).to.equal(1);
      const lines = printed.trimEnd().split('\n');
      const agent = pidOf(path('.mon', 'agent-cache', 'queue'));
      expect(lines.slice(0, -1)).to.deep.equal([
        'mon was not started:',
        `  the backend's store is in use by process ${pidOf(path('.mon', 'backend', 'store'))} (--state-dir ${path('.mon', 'backend')})`,
        `  the agent's store is in use by process ${agent} (--cache-dir ${path('.mon', 'agent-cache')})`,
        `  the agent cannot listen on 127.0.0.1:${port} (--api-port): another process uses the address (EADDRINUSE)`,
        'This command uses other ports and another directory:',
      ]);
      expect(lines.at(-1)).to.match(
        new RegExp(`MON_BACKEND_STATE_DIR=${path('.mon-2')} .*MON_API_PORT=\\d{4} .*npm start$`),
      );
    } finally {
      taken.close();
    }
  });

  it('gives the agent another queue in that command when MON_CACHE_DIR names one that is in use', async () => {
    const cache = path('cache');
    const run = start({ MON_CACHE_DIR: cache });
    await run.api();
    await eventually(() => existsSync(join(cache, 'queue', 'lock')), Boolean, { what: 'the queue', withinMs: 15_000 });
    const settings = { ...FREE, MON_BACKEND_STATE_DIR: path('other'), MON_CACHE_DIR: cache };
    const { printed } = await failedStart(directory.path, settings);
    expect(printed).to.contain(`--cache-dir ${cache})`).and.contain('This command uses another directory:');
    expect(printed).to.contain(`MON_BACKEND_STATE_DIR=${path('other-2')}`);
    expect(printed)
      .to.contain(`MON_CACHE_DIR=${path('other-2', 'agent-cache')}`)
      .and.contain('MON_API_PORT=0');
  });

  it('starts nothing when a log or a directory cannot be created, and names it in one line', async () => {
    mkdirSync(path('.mon', 'agent.log'), { recursive: true });
    const log = await failedStart(directory.path, FREE);
    expect(log.code).to.equal(1);
    expect(log.printed).to.match(
      /^the log \S+\/\.mon\/agent\.log must be writable: EISDIR.+; MON_BACKEND_STATE_DIR moves it\n$/,
    );
    expect(existsSync(path('.mon', 'backend', 'store', 'lock')), 'a backend').to.equal(false);
    writeFileSync(path('file'), '');
    const home = await failedStart(directory.path, { ...FREE, MON_BACKEND_STATE_DIR: path('file') });
    expect(home.code).to.equal(1);
    expect(home.printed).to.match(/^MON_BACKEND_STATE_DIR: cannot use the directory \S+\/file: ENOTDIR.+\n$/);
  });

  it('runs on without a log that can no longer be written, and says so once', async () => {
    mkdirSync(path('.mon'));
    symlinkSync('/dev/full', path('.mon', 'backend.log'));
    const run = start({ MON_BACKEND_LOG_LEVEL: 'debug' });
    const api = await run.api();
    for (let i = 0; i < 20; i += 1) await api.get('/api/core/v2/namespaces');
    expect(await run.interrupt()).to.equal(0);
    expect(run.errors).to.match(/^the log \S+\/backend\.log of the backend cannot be written: ENOSPC.+\n$/);
  });

  it('ends its programs when it fails itself', async () => {
    const run = start();
    expect(await run.closeOutput()).to.not.equal(0);
    const backend = pidOf(path('.mon', 'backend', 'store'));
    await eventually(() => !existsSync(`/proc/${backend}`), Boolean, {
      what: 'the end of the backend',
      withinMs: 15_000,
    });
  });
});
