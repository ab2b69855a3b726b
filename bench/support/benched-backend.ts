import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Checkout, HERE, programOf } from './checkout.ts';

const ADMIN = { username: 'admin', password: 'Adm1n-P@ss' };
const READY = 'ready to accept events';
const REFUSED = 'message refused';

export interface BenchedBackend {
  pid: number;
  api: number;
  agents: number;
  /** The port of the API of the first generation; 0 for earlier commits. */
  legacyApi: number;
  /** From its start to the log line that says it is ready. */
  readyMs: number;
  /** The log line of the first refused message of an agent; a refused message invalidates the measurement. */
  refusal(): string | undefined;
  /** The administrator's `Authorization` header, valid for five minutes. */
  authorization(): Promise<string>;
  stop(): Promise<void>;
}

/** Runs a command of the program and returns what it prints. */
async function runProgram(program: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args)).stdout;
}

/** Runs with a state directory that `mon-backend init` has made, and removes it. */
export async function withState<T>(run: (stateDir: string) => Promise<T>, checkout = HERE): Promise<T> {
  const stateDir = mkdtempSync(join(tmpdir(), 'mon-bench-'));
  try {
    const admin = ['--cluster-admin-username', ADMIN.username, '--cluster-admin-password', ADMIN.password];
    await runProgram(programOf(checkout, 'mon-backend'), ['init', '--state-dir', stateDir, ...admin]);
    return await run(stateDir);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

export interface BackendOptions {
  /** A fresh one by default. */
  stateDir?: string;
  checkout?: Checkout;
  /** The directory of its CPU profile; `BENCH_PROFILE` by default. */
  profile?: string | undefined;
}

/** Runs with a real backend on free ports. */
export async function withBackend<T>(
  run: (backend: BenchedBackend) => Promise<T>,
  { stateDir, checkout = HERE, profile = process.env['BENCH_PROFILE'] }: BackendOptions = {},
): Promise<T> {
  if (stateDir === undefined)
    return withState((fresh) => withBackend(run, { stateDir: fresh, checkout, profile }), checkout);
  const backend = await startBackend({ stateDir, checkout, profile });
  try {
    const result = await run(backend);
    const refusal = backend.refusal();
    if (refusal !== undefined) throw new Error(`an agent's message was refused: ${refusal}`);
    return result;
  } finally {
    await backend.stop();
  }
}

/** Flags that earlier commits do not know, with their values. */
const LATER_FLAGS = { '--legacy-api-listen-address': '127.0.0.1:0', '--dashboard-port': '0' };

async function laterFlags(program: string): Promise<string[]> {
  const help = await runProgram(program, ['start', '--help']);
  const known = Object.entries(LATER_FLAGS).filter(([flag]) => help.includes(flag));
  return known.map(([flag, value]) => `${flag}=${value}`);
}

async function startBackend({
  stateDir,
  checkout,
  profile,
}: Required<Omit<BackendOptions, 'profile'>> & Pick<BackendOptions, 'profile'>): Promise<BenchedBackend> {
  const program = programOf(checkout, 'mon-backend');
  const start = [
    'start',
    `--state-dir=${stateDir}`,
    `--cache-dir=${join(stateDir, 'cache')}`,
    '--api-listen-address=127.0.0.1:0',
    '--agent-host=127.0.0.1',
    '--agent-port=0',
    '--entity-limit=0',
    ...(await laterFlags(program)),
  ];
  const startedAt = performance.now();
  // The program is executed as users execute it: its start line sets options of Node.js.
  const child =
    profile === undefined
      ? spawn(program, start, { stdio: ['ignore', 'ignore', 'pipe'] })
      : spawn(process.execPath, ['--cpu-prof', `--cpu-prof-dir=${profile}`, program, ...start], {
          stdio: ['ignore', 'ignore', 'pipe'],
        });
  let refusal: string | undefined;
  const addresses = await addressesOf(child, (lines) => {
    refusal ??= lines.split('\n').find((line) => line.includes(REFUSED));
  });
  const readyMs = performance.now() - startedAt;
  return {
    pid: child.pid ?? 0,
    ...addresses,
    readyMs,
    refusal: () => refusal,
    authorization: () => login(addresses.api),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('the backend exited by itself');
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Reads the log until the backend exits, because a full pipe would block it. @throws Error with the log if it exits before it is ready */
function addressesOf(
  child: ChildProcess,
  log: (lines: string) => void,
): Promise<{ api: number; agents: number; legacyApi: number }> {
  const portOf = (address = ':0') => Number(address.slice(address.lastIndexOf(':') + 1));
  return new Promise((resolve, reject) => {
    let logged = '';
    let isReady = false;
    child.stderr?.on('data', (chunk: Buffer) => {
      if (isReady) {
        log(chunk.toString());
        return;
      }
      logged += chunk.toString();
      const line = logged.split('\n').find((candidate) => candidate.includes(READY) && candidate.endsWith('}'));
      if (line === undefined) return;
      isReady = true;
      const { api, agents, legacyApi } = JSON.parse(line) as { api: string; agents: string; legacyApi?: string };
      resolve({ api: portOf(api), agents: portOf(agents), legacyApi: portOf(legacyApi) });
    });
    child.once('close', () => {
      reject(new Error(`backend did not start: ${logged}`));
    });
  });
}

async function login(api: number): Promise<string> {
  const basic = Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64');
  const response = await fetch(`http://127.0.0.1:${api}/auth`, { headers: { Authorization: `Basic ${basic}` } });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return `Bearer ${token}`;
}
