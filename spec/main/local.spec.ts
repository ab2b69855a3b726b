import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { FIXTURES, type StoredFixture, unpackFixture } from '../store/stored-fixtures.ts';
import { childrenOf } from '../exec/children-of.ts';
import { eventually, inTime } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { FREE, failedStart, LocalRun, PROGRAM, SECRET } from './local-run.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

interface StoredEvent {
  check: { metadata: { name: string }; status: number; history: unknown[] };
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

  it('names all ports that are in use before it starts anything, and a command that uses free ones', async () => {
    const taken = ['MON_BACKEND_API_LISTEN_ADDRESS', 'MON_API_PORT', 'MON_SOCKET_PORT'];
    const others = await Promise.all(taken.map(() => listening()));
    const [api = 0, agentApi = 0, socket = 0] = others.map((server) => (server.address() as AddressInfo).port);
    const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
    await once(datagrams, 'listening');
    const statsd = datagrams.address().port;
    const home = await temporaryDirectory();
    try {
      const { code, printed } = await failedStart(home.path, {
        ...FREE,
        MON_BACKEND_API_LISTEN_ADDRESS: `127.0.0.1:${api}`,
        MON_API_PORT: String(agentApi),
        MON_SOCKET_PORT: String(socket),
        MON_STATSD_METRICS_PORT: String(statsd),
      });
      expect(code).to.equal(1);
      const used = 'another process uses the address (EADDRINUSE)';
      const lines = printed.trim().split('\n');
      expect(lines.slice(0, -1)).to.deep.equal([
        'mon was not started:',
        `  the backend cannot listen on 127.0.0.1:${api} (--api-listen-address): ${used}`,
        `  the agent cannot listen on 127.0.0.1:${agentApi} (--api-port): ${used}`,
        `  the agent cannot listen on 127.0.0.1:${socket} (--socket-port): ${used}`,
        `  the agent cannot listen on UDP 127.0.0.1:${statsd} (--statsd-metrics-port): ${used}`,
        'This command uses other ports:',
      ]);
      const command = lines.at(-1)?.trim().split(' ') ?? [];
      expect(command.slice(0, -2).map((setting) => setting.split('=')[0])).to.have.members([
        ...taken,
        'MON_BACKEND_AGENT_PORT',
        'MON_BACKEND_DASHBOARD_PORT',
        'MON_BACKEND_LEGACY_API_LISTEN_ADDRESS',
        'MON_STATSD_METRICS_PORT',
      ]);
      expect(command.slice(-2)).to.deep.equal(['npm', 'start']);
      expect(readdirSync(join(home.path, '.mon')), 'the logs of started programs').to.deep.equal(['backend']);
    } finally {
      for (const server of others) server.close();
      datagrams.close();
      await home.remove();
    }
  });

  it('does not write into the logs of a backend that runs in the same directory', async () => {
    const run = start();
    await run.api();
    const log = join(directory.path, '.mon', 'backend.log');
    const before = readFileSync(log, 'utf8');
    const { code, printed } = await failedStart(directory.path, FREE);
    expect(code).to.equal(1);
    expect(printed).to.match(/^ {2}the backend's store is in use by process \d+ \(--state-dir \S+\)$/m);
    expect(readFileSync(log, 'utf8').slice(before.length)).to.not.include('store is in use');
    expect(await run.interrupt()).to.equal(0);
  });

  it('lets only this machine connect, and says how others can', async () => {
    const home = await temporaryDirectory();
    const run = new LocalRun(home.path);
    try {
      await run.api();
      const port = /REST API +http:\/\/127\.0\.0\.1:(\d+)/.exec(run.output)?.[1];
      const log = readFileSync(join(home.path, '.mon', 'backend.log'), 'utf8');
      const [, agents, dashboard] = /"agents":"([^"]+):\d+","dashboard":"([^"]+):\d+"/.exec(log) ?? [];
      expect([agents, dashboard]).to.deep.equal(['127.0.0.1', '127.0.0.1']);
      expect(run.output).to.contain('Only this machine can connect').and.contain('MON_BACKEND_AGENT_HOST=0.0.0.0');
      expect(run.output).to.contain(`MON_BACKEND_API_LISTEN_ADDRESS=0.0.0.0:${port} npm start`);
    } finally {
      await run.end();
      await home.remove();
    }
  });

  it('names the listeners that other machines can reach', async () => {
    const home = await temporaryDirectory();
    const run = new LocalRun(home.path, { MON_BACKEND_DASHBOARD_HOST: '0.0.0.0' });
    try {
      await run.api();
      expect(run.output).to.match(/^Other machines can connect to 0\.0\.0\.0:\d+, without TLS\.$/m);
      expect(run.output).to.not.contain('Only this machine');
    } finally {
      await run.end();
      await home.remove();
    }
  });

  it('prints commands that verify the ledger, back it up, and wait for the notification of an alert', async () => {
    const home = await temporaryDirectory();
    const run = new LocalRun(home.path);
    try {
      await run.api();
      const commandsAfter = (heading: string): string =>
        run.output.slice(run.output.indexOf(heading)).split('\n').slice(1).join('\n').split('\n\n')[0] ?? '';
      const script = ['Read the events', 'Raise an alert', 'Verify the ledger'].map(commandsAfter).join('\n');
      const output = execFileSync('sh', ['-c', script], { encoding: 'utf8', timeout: 30_000 });
      // Only the event that the handler received has a state; the answer to the request has none.
      expect(output).to.match(/^\{.*"handlers":\["alerts"\].*"output":"it happened","state":"failing".*\}$/m);
      expect(output, 'each answer ends its line').to.not.match(/\}\{|\]\{|\}\[/);
      expect(output).to.match(/"sentences":\["The check `alert` of `example` has been critical/);
      expect(output)
        .to.match(/ledger ok: \d+ entries/)
        .and.match(/^backup: \S+\.mdb$/m);
    } finally {
      await run.end();
      await home.remove();
    }
  });

  it('does not print the password of the first start after it was changed', async () => {
    const home = await temporaryDirectory();
    const first = new LocalRun(home.path);
    let second: LocalRun | undefined;
    try {
      const api = await first.api();
      const password = /password +(\S+)$/m.exec(first.output)?.[1] ?? '';
      expect(first.output.split(password)).to.have.lengthOf.above(3);
      const user = { username: 'admin', password: 'changed-by-me', groups: ['cluster-admins'] };
      await api.put('/api/core/v2/users/admin', user);
      expect(await first.interrupt()).to.equal(0);
      second = new LocalRun(home.path);
      const run = second;
      await eventually(() => run.output.includes('Read the events'), Boolean, { what: 'the output', withinMs: 15_000 });
      expect(run.output).to.contain('password   as you changed it').and.not.contain(password);
    } finally {
      await first.end();
      await second?.end();
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
