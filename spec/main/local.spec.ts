import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FREE_PORTS } from '../agent/agent-process.ts';
import { ApiClient } from '../support/api-client.ts';
import { FIXTURES, type StoredFixture, unpackFixture } from '../store/stored-fixtures.ts';
import { childrenOf } from '../exec/children-of.ts';
import { eventually, inTime } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main/local.cjs', import.meta.url));

const SECRET = 's3cret-of-the-pager';

interface StoredEvent {
  check: { metadata: { name: string }; status: number; history: unknown[] };
}

/** What `npm start` runs, in a directory of its own and on free ports. */
class LocalRun {
  output = '';
  readonly #child: ChildProcess;

  constructor(directory: string) {
    this.#child = spawn(process.execPath, [PROGRAM], {
      cwd: directory,
      env: {
        ...process.env,
        MON_BACKEND_API_LISTEN_ADDRESS: '127.0.0.1:0',
        MON_BACKEND_AGENT_HOST: '127.0.0.1',
        MON_BACKEND_AGENT_PORT: '0',
        MON_BACKEND_LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:0',
        MON_BACKEND_DASHBOARD_PORT: '0',
        MON_SECRET_PAGER: SECRET,
        ...FREE_PORTS,
      },
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** Logged in with what it printed. */
  async api(): Promise<ApiClient> {
    const printed = await eventually(
      () => /http:\/\/127\.0\.0\.1:(\d+)\/api[^]*password +(\S+)/.exec(this.output),
      Boolean,
      { what: 'the printed URLs and credentials', withinMs: 15_000 },
    );
    return ApiClient.login(Number(printed?.[1]), { username: 'admin', password: printed?.[2] ?? '' });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** As Ctrl-C does; resolves with the exit code. */
  async interrupt(): Promise<number | null> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGINT');
    await inTime(exited, 'the end after Ctrl-C', 15_000);
    return this.#child.exitCode;
  }

  /** Sends the signal of Ctrl-C, and does not wait. */
  signal(): void {
    this.#child.kill('SIGINT');
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.interrupt();
  }
}

describe('npm start', function () {
  this.timeout(60_000);
  let directory: TemporaryDirectory;
  const runs: LocalRun[] = [];

  before(async () => {
    directory = await temporaryDirectory();
  });

  after(async () => {
    for (const run of runs) await run.end();
    await directory.remove();
  });

  const start = (): LocalRun => {
    const run = new LocalRun(directory.path);
    runs.push(run);
    return run;
  };
  const eventsOf = async (api: ApiClient) =>
    (await api.get('/api/core/v2/namespaces/default/events')).json as StoredEvent[];

  it('shows a keepalive and a result of this machine within 30 s, ends at Ctrl-C, and finds its data again', async () => {
    const first = start();
    const api = await first.api();
    const seen = await eventually(
      () => eventsOf(api),
      (events) => {
        const names = events.map(({ check }) => check.metadata.name);
        return names.includes('keepalive') && names.includes('root-filesystem');
      },
      { what: 'the keepalive and the result of a check', withinMs: 30_000, everyMs: 200 },
    );
    for (const { check } of seen) expect(check.history).to.have.length.above(0);

    const alert = { status: 2, output: 'it happened', handlers: ['alerts'] };
    await api.put('/ns/default/events/example/alert', proxyEvent('example', 'alert', alert));
    const file = join(directory.path, '.mon', 'alerts.log');
    await eventually(() => existsSync(file) && readFileSync(file, 'utf8').includes('it happened'), Boolean, {
      what: 'the alert in the file that the output names',
    });
    expect(first.output).to.contain(file);
    const programs = [first.pid, ...childrenOf(first.pid, 'start')];
    expect(programs).to.have.length(3);
    const environments = programs.map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8'));
    expect(environments.join('\0'), 'the secrets of the backend').to.not.include(SECRET);
    expect(await first.interrupt()).to.equal(0);

    const second = start();
    const again = await eventsOf(await second.api());
    const names = again.map(({ check }) => check.metadata.name);
    expect(names).to.include('root-filesystem');
    expect(await second.interrupt()).to.equal(0);
  });

  it('ends its programs at once at a second Ctrl-C, which the message of the first one offers', async () => {
    const run = start();
    await run.api();
    const lock = join(directory.path, '.mon', 'backend', 'store', 'lock');
    const { pid } = JSON.parse(readFileSync(lock, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGSTOP');
    try {
      run.signal();
      await eventually(() => run.output.includes('Ctrl-C again ends them at once'), Boolean, { what: 'the message' });
      // npm passes on the signal that the terminal sent already: two signals at once are one Ctrl-C.
      run.signal();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(() => process.kill(pid, 0)).to.not.throw();
      expect(await run.interrupt()).to.equal(1);
      expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    } finally {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It has ended.
      }
    }
  });

  it('says in text why the backend did not start, and which variables choose other ports', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const home = await temporaryDirectory();
    try {
      const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
      const child = spawn(process.execPath, [PROGRAM], {
        cwd: home.path,
        env: {
          ...process.env,
          MON_BACKEND_API_LISTEN_ADDRESS: address,
          MON_BACKEND_AGENT_PORT: '0',
          MON_BACKEND_LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:0',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let printed = '';
      child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await inTime(once(child, 'close'), 'the end of the program', 15_000);
      expect(child.exitCode).to.equal(1);
      expect(printed).to.match(new RegExp(`^the backend did not start: cannot listen on ${address} `, 'm'));
      expect(printed).to.contain('MON_BACKEND_API_LISTEN_ADDRESS=127.0.0.1:9080').and.not.contain('{');
    } finally {
      other.close();
      await home.remove();
    }
  });

  it('prints the whole command that upgrades the data of an older version', async () => {
    const other = await temporaryDirectory();
    try {
      const stateDir = join(other.path, '.mon', 'backend');
      const [fixture] = FIXTURES as [StoredFixture];
      unpackFixture(fixture, join(stateDir, 'store'));
      const child = spawn(process.execPath, [PROGRAM], { cwd: other.path, stdio: ['ignore', 'ignore', 'pipe'] });
      let printed = '';
      child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await inTime(once(child, 'close'), 'the end of the program', 15_000);
      expect(child.exitCode).to.equal(1);
      const [, command = ''] = printed.split('\n');
      expect(command.trim()).to.match(/^node \S+ upgrade --state-dir \S+$/);
      const [, ...args] = command.trim().split(' ');
      const upgrade = spawn(process.execPath, [...args, '--skip-confirm'], { stdio: 'ignore' });
      await inTime(once(upgrade, 'close'), 'the end of the upgrade', 15_000);
      expect(upgrade.exitCode).to.equal(0);
      expect(existsSync(join(stateDir, 'backups'))).to.equal(true);
    } finally {
      await other.remove();
    }
  });
});
