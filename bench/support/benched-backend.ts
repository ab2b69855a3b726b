import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BACKEND = fileURLToPath(new URL('../../bin/mon-backend.js', import.meta.url));
const ADMIN = { username: 'admin', password: 'Adm1n-P@ss' };
const READY = 'ready to accept events';
const REFUSED = 'message refused';

export interface BenchedBackend {
  pid: number;
  api: number;
  agents: number;
  /** From its start to the log line that says it is ready. */
  readyMs: number;
  /** The log line of the first refused message of an agent; a refused message invalidates the measurement. */
  refusal(): string | undefined;
  /** The administrator's `Authorization` header, valid for five minutes. */
  authorization(): Promise<string>;
  stop(): Promise<void>;
}

/** Runs with a state directory that `mon-backend init` has made, and removes it. */
export async function withState<T>(run: (stateDir: string) => Promise<T>): Promise<T> {
  const stateDir = mkdtempSync(join(tmpdir(), 'mon-bench-'));
  try {
    const admin = ['--cluster-admin-username', ADMIN.username, '--cluster-admin-password', ADMIN.password];
    await promisify(execFile)(process.execPath, [BACKEND, 'init', '--state-dir', stateDir, ...admin]);
    return await run(stateDir);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Runs with a real backend on free ports, with this state directory or a fresh one. `BENCH_PROFILE` names the directory of its CPU profile. */
export async function withBackend<T>(run: (backend: BenchedBackend) => Promise<T>, stateDir?: string): Promise<T> {
  if (stateDir === undefined) return withState((fresh) => withBackend(run, fresh));
  const backend = await startBackend(stateDir);
  try {
    const result = await run(backend);
    const refusal = backend.refusal();
    if (refusal !== undefined) throw new Error(`an agent's message was refused: ${refusal}`);
    return result;
  } finally {
    await backend.stop();
  }
}

async function startBackend(stateDir: string): Promise<BenchedBackend> {
  const profile = process.env['BENCH_PROFILE'];
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
      BACKEND,
      'start',
      `--state-dir=${stateDir}`,
      `--cache-dir=${join(stateDir, 'cache')}`,
      '--api-listen-address=127.0.0.1:0',
      '--agent-host=127.0.0.1',
      '--agent-port=0',
      '--entity-limit=0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
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
function addressesOf(child: ChildProcess, log: (lines: string) => void): Promise<{ api: number; agents: number }> {
  const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));
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
      const { api, agents } = JSON.parse(line) as { api: string; agents: string };
      resolve({ api: portOf(api), agents: portOf(agents) });
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
