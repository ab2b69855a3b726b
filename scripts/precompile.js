import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';

/**
 * Runs the built programs once, as they usually run, and saves the code that V8 compiled for them in `dist`, so that they start
 * faster (docs/decisions/0052-start-of-programs.md). They listen on free ports of this machine only. A program whose code
 * could not be saved starts more slowly, but runs: the build goes on.
 */
const RECORD = fileURLToPath(new URL('programs/record.cjs', import.meta.url));
const LIMIT_MS = 60_000;
const USER = 'admin';
const PASSWORD = 'only-while-this-runs';
const BACKEND_FLAGS = `--agent-host 127.0.0.1 --agent-port 0 --api-listen-address 127.0.0.1:0 --dashboard-host 127.0.0.1
  --dashboard-port 0 --legacy-api-listen-address 127.0.0.1:0 --disable-platform-metrics`.split(/\s+/);
const AGENT_FLAGS = '--api-port 0 --socket-port 0 --statsd-metrics-port 0 --log-level info'.split(' ');

const directory = mkdtempSync(join(tmpdir(), 'mon-precompile-'));
/** An empty file, instead of that of this machine. */
const configFile = join(directory, 'config.yml');
const stateDir = join(directory, 'state');
const cacheDir = join(directory, 'agent-cache');
const children = [];

/** Starts a program that is recorded, with all programs that it starts. No variable of this environment configures it. */
function run(program, ...args) {
  const variables = Object.entries(process.env).filter(([name]) => !/^(?:mon|sensu)_/i.test(name));
  const child = spawn(process.execPath, [`dist/main/${program}.cjs`, ...args], {
    env: { ...Object.fromEntries(variables), NODE_OPTIONS: `--require=${JSON.stringify(RECORD)}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: LIMIT_MS,
  });
  children.push(child);
  return { child, lines: createInterface({ input: child.stderr }), ended: once(child, 'exit') };
}

/** Resolves with the first line of its log that matches. */
async function lineOf({ lines }, pattern) {
  for await (const line of lines) if (pattern.test(line)) return pattern.exec(line);
  throw new Error(`no line of its log matches ${pattern}`);
}

async function stop({ child, ended }) {
  child.kill('SIGTERM');
  await ended;
}

async function recordBackendAndAgent() {
  writeFileSync(configFile, '');
  const state = ['--config-file', configFile, '--state-dir', stateDir];
  await run('backend', 'init', ...state, '--cluster-admin-username', USER, '--cluster-admin-password', PASSWORD).ended;
  const backend = run('backend', 'start', ...state, ...BACKEND_FLAGS, '--cache-dir', join(directory, 'backend-cache'));
  const [, address] = await lineOf(backend, /"agents":"([^"]+)"/);
  const agentFlags = ['--config-file', configFile, '--cache-dir', cacheDir, '--backend-url', `ws://${address}`];
  const agent = run('agent', 'start', ...agentFlags, ...AGENT_FLAGS);
  await lineOf(agent, /successfully connected/);
  await stop(agent);
  await stop(backend);
  await run('queue-check', join(cacheDir, 'queue')).ended;
}

async function recordSandbox() {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker('./dist/sandbox/worker.cjs', {
    execArgv: ['--require', RECORD],
    env: {},
    workerData: { recordPort: port2 },
    transferList: [port2],
  });
  await once(worker, 'message');
  const ended = once(worker, 'exit');
  port1.postMessage('save');
  await ended;
}

try {
  await Promise.all([recordBackendAndAgent(), recordSandbox()]);
} catch (error) {
  process.stderr.write(
    `the programs will start more slowly, because their compiled code could not be saved: ${error}\n`,
  );
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}
