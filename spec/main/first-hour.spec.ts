import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FREE_PORTS as FREE_AGENT_PORTS } from '../agent/agent-process.ts';
import { InProcessAgent } from '../agent/in-process-agent.ts';
import { READY, runCommand } from '../support/backend-command.ts';
import { inTime } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const END_WITHIN_MS = 20_000;
const BACKEND = fileURLToPath(new URL('../../bin/mon-backend.js', import.meta.url));
const AGENT = fileURLToPath(new URL('../../bin/mon-agent.js', import.meta.url));
const FREE_PORTS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-port=0',
];
const ADMIN = ['--cluster-admin-username=admin', '--cluster-admin-password=12345678'];

interface Line {
  level: string;
  msg: string;
  error?: string;
  key?: string;
  suggestion?: string;
  flags?: string[];
  stack?: string;
}

/** Runs a command to its end. */
async function run(command: readonly string[]) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, ...FREE_AGENT_PORTS },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  try {
    await inTime(once(child, 'close'), `the end of ${command.join(' ')}`, END_WITHIN_MS);
  } finally {
    child.kill('SIGKILL');
  }
  return { code: child.exitCode, ...output };
}

const runBackend = (...args: string[]) => runCommand(args);

async function runAgent(...args: string[]) {
  const agent = new InProcessAgent(args);
  const code = await agent.ended();
  return { code, stdout: agent.stdout, stderr: agent.stderr };
}

/** Runs a program on a terminal of 60 columns and returns what it shows. */
async function onTerminal(...command: string[]): Promise<string> {
  const quoted = [process.execPath, ...command].map((part) => `'${part}'`).join(' ');
  const { stdout } = await run(['script', '-qec', `stty cols 60; ${quoted}`, '/dev/null']);
  return stdout.replaceAll('\r', '');
}

const linesOf = (stderr: string): Line[] =>
  stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('mon-backend and mon-agent', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const place = (name: string): string => join(directory.path, name);

  it('print their version for --version', async () => {
    for (const [program, name] of [
      [BACKEND, 'mon-backend'],
      [AGENT, 'mon-agent'],
    ] as const) {
      const { code, stdout } = await run([process.execPath, program, '--version']);
      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`^${name} version \\d`));
    }
  });

  it('refuse a surplus argument of version and help', async () => {
    for (const command of [
      ['version', 'extra'],
      ['help', 'start', 'extra'],
    ]) {
      for (const { code, stdout, stderr } of [await runBackend(...command), await runAgent(...command)]) {
        expect([code, stdout]).to.deep.equal([1, '']);
        expect(linesOf(stderr).map(({ error }) => error)).to.deep.equal(['unexpected argument "extra"']);
      }
    }
  });

  it('suggest the command that was probably meant', async () => {
    for (const { result, rule } of [
      { result: await runBackend('strat'), rule: 'unknown command "strat" for "mon-backend" (did you mean start?)' },
      {
        result: await runBackend('ledger', 'verfy'),
        rule: 'unknown command "ledger verfy" for "mon-backend" (did you mean ledger verify?)',
      },
      { result: await runAgent('vesion'), rule: 'unknown command "vesion" for "mon-agent" (did you mean version?)' },
      {
        result: await runAgent('help', 'strat'),
        rule: 'unknown command "strat" for "mon-agent" (did you mean start?)',
      },
      {
        result: await runAgent('--name', 'x'),
        rule: 'unknown flag: --name; flags follow a command, as in "mon-agent start --name"',
      },
      {
        result: await runBackend('--state-dir', '/x'),
        rule: 'unknown flag: --state-dir; flags follow a command, as in "mon-backend start --state-dir"',
      },
    ]) {
      expect(result.code).to.equal(1);
      expect(linesOf(result.stderr).map(({ error }) => error)).to.deep.equal([rule]);
    }
  });

  it('report mistakes as text on a terminal and as JSON in a pipe', async () => {
    const argv = ['start', '--stat-dir', '/x', '--log-level', 'loud'];
    const rules = ['unknown flag: --stat-dir (did you mean --state-dir?)', 'not a valid log level: "loud"'];
    expect(linesOf((await runBackend(...argv)).stderr).map(({ error }) => error)).to.deep.equal(rules);
    const shown = (await onTerminal(BACKEND, ...argv)).replaceAll(/^\d\d:\d\d:\d\d /gm, '').trim();
    expect(shown.split('\n').map((line) => line.replace(/ \(flag=.*/, ''))).to.deep.equal(
      rules.map((rule) => `fatal: error executing mon-backend: ${rule}`),
    );
  });

  it('show unexpected errors without a stack on a terminal', async () => {
    const shown = await onTerminal(BACKEND, 'start', '--state-dir', place('x'.repeat(110)));
    expect(shown).to.match(
      /^\d\d:\d\d:\d\d fatal: error executing mon-backend: state-dir is too long, set control-socket: .*$/m,
    );
    expect(shown).not.to.match(/\bat \S+ \(|\{/);
  });

  it('name the flags of a local port that is in use, for each input of the agent', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
    await once(datagrams, 'listening');
    try {
      const tcp = (other.address() as AddressInfo).port;
      const { code, stderr } = await runAgent(
        'start',
        `--cache-dir=${place('cache')}`,
        `--statsd-metrics-port=${datagrams.address().port}`,
        `--api-port=${tcp}`,
      );
      expect(code).to.equal(1);
      const named = linesOf(stderr).flatMap(({ level, flags }) => (flags === undefined ? [] : [[level, ...flags]]));
      expect(named).to.deep.equal([
        ['error', 'statsd-metrics-host', 'statsd-metrics-port'],
        ['fatal', 'api-host', 'api-port'],
      ]);
    } finally {
      other.close();
      datagrams.close();
    }
  });

  it('say in one line that the metrics log cannot be opened, with the flag that moves it', async () => {
    const file = join(place('none'), 'stats.log');
    const args = ['start', '--state-dir', place('state'), '--platform-metrics-log-file', file, ...FREE_PORTS];
    const { stderr } = await runCommand(args, { until: READY });
    const line = linesOf(stderr).find(({ msg }) => msg.startsWith('metrics log'));
    expect(line?.error).to.equal(`cannot open ${file}: ENOENT: no such file or directory`);
    expect(line?.flags).to.include('platform-metrics-log-file');
    expect(line).to.not.have.property('stack');
  });

  it('wrap their help to the width of the terminal', async () => {
    for (const program of [BACKEND, AGENT]) {
      const help = await onTerminal(program, 'start', '--help');
      const tooWide = help.split('\n').filter((line) => line.length > 60 && /\S \S/.test(line) && !/^ +-/.test(line));
      expect(tooWide).to.deep.equal([]);
      expect(help.split('\n').length).to.be.above(60);
    }
  });

  for (const { flag, program, args } of [
    { flag: 'state-dir', program: runBackend, args: ['start', ...FREE_PORTS] },
    { flag: 'state-dir', program: runBackend, args: ['init', ...ADMIN] },
    { flag: 'cache-dir', program: runAgent, args: ['start'] },
  ]) {
    it(`end with an error when --${flag} cannot be made: ${args[0]} of ${flag === 'state-dir' ? 'the backend' : 'the agent'}`, async () => {
      writeFileSync(place('file'), '');
      for (const path of ['/proc/x', place('file'), join(place('file'), 'below')]) {
        const { code, stderr } = await program(...args, `--${flag}=${path}`);
        expect(code, path).to.equal(1);
        const errors = linesOf(stderr).filter(({ level }) => level === 'fatal');
        expect(errors, stderr).to.have.lengthOf(1);
        expect(errors[0]?.error).to.match(new RegExp(`^${flag}: cannot use the directory ${path}: E[A-Z]+: `));
      }
    });
  }

  it('end with an error when --cache-dir of the backend is not a directory', async () => {
    writeFileSync(place('file'), '');
    const args = ['start', ...FREE_PORTS, '--state-dir', place('state'), '--cache-dir', place('file')];
    const { code, stderr } = await runBackend(...args);
    expect(code).to.equal(1);
    expect(linesOf(stderr)[0]?.error).to.equal(`cache-dir: ${place('file')} is not a directory`);
  });

  it('name the flag and the address of a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
      const port = address.split(':')[1] ?? '';
      for (const { args, flags } of [
        { args: [...FREE_PORTS, `--api-listen-address=${address}`], flags: '--api-listen-address' },
        { args: [...FREE_PORTS, `--agent-port=${port}`], flags: '--agent-host and --agent-port' },
      ]) {
        const { code, stderr } = await runBackend('start', '--state-dir', place('state'), ...args);
        expect(code).to.equal(1);
        const last = linesOf(stderr).at(-1);
        expect(last?.level).to.equal('fatal');
        expect(last?.error).to.equal(
          `cannot listen on ${address} (${flags}): another process uses the address (EADDRINUSE)`,
        );
      }
    } finally {
      other.close();
    }
  });

  it('log that init must run when the store is not initialized, and only then', async () => {
    mkdirSync(place('state'));
    const args = ['start', '--state-dir', place('state'), ...FREE_PORTS];
    const first = linesOf((await runCommand(args, { until: READY })).stderr);
    const warning = first.find(({ msg }) => msg.includes('not initialized'));
    expect(warning).to.include({ level: 'warning', run: `mon-backend init --state-dir ${place('state')}` });
    expect((await runBackend('init', '--state-dir', place('state'), ...ADMIN)).code).to.equal(0);
    const second = linesOf((await runCommand(args, { until: READY })).stderr);
    expect(second.filter(({ msg }) => msg.includes('not initialized'))).to.deep.equal([]);
  });

  it('name an unknown key of the configuration file, with a suggestion, and start', async () => {
    const file = place('backend.yml');
    writeFileSync(file, 'agent-prot: 0\nelephant: 1\n');
    const args = ['start', '--config-file', file, '--state-dir', place('state'), ...FREE_PORTS];
    const { code, stderr } = await runCommand(args, { until: READY });
    expect(code).to.equal(0);
    expect(stderr).to.include(READY);
    const warnings = linesOf(stderr)
      .filter(({ msg }) => msg === 'unknown key in the configuration file')
      .map(({ key, suggestion }) => ({ key, suggestion }));
    expect(warnings).to.deep.equal([
      { key: 'agent-prot', suggestion: 'agent-port' },
      { key: 'elephant', suggestion: undefined },
    ]);
  });

  it('name unknown and repeated keys with --print-config, on standard error only', async () => {
    const file = place('backend.yml');
    writeFileSync(file, 'agent-prot: 0\nstate-dir: /a\nstate-dir: /b\n');
    const { code, stdout, stderr } = await runCommand(['start', '--config-file', file, '--print-config']);
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^state-dir: "\/b" # file /m)
      .and.not.include('agent-prot');
    expect(linesOf(stderr).map(({ msg, key }) => [msg.split(' in ')[0], key])).to.deep.equal([
      ['repeated key', 'state-dir'],
      ['unknown key', 'agent-prot'],
    ]);
  });

  it('name the flag when the administrator has an invalid name', async () => {
    const names = ['--cluster-admin-username', 'ad min', '--cluster-admin-password', 'long enough'];
    const { code, stderr } = await runCommand(['init', '--state-dir', place('state'), ...names]);
    expect(code).to.equal(1);
    expect(linesOf(stderr).map(({ error }) => error?.split(':')[0])).to.deep.equal([
      'cluster-admin-username is invalid',
    ]);
  });
});
