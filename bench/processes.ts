import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BACKEND = fileURLToPath(new URL('../bin/mon-backend.js', import.meta.url));
export const ADMIN = { username: 'admin', password: 'Adm1n-P@ss' };

/** Runs a worker file of this folder in a process of its own, and resolves with the message it sends. */
export async function runWorker<T>(file: string, argument: object): Promise<T> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(argument)], {
    execArgv: ['--import', 'tsx'],
  });
  const [message] = (await once(child, 'message')) as [T];
  child.disconnect();
  return message;
}

export interface BenchedBackend {
  api: number;
  agents: number;
  /** User and system CPU so far, seconds. */
  cpuS(): number;
  stop(): Promise<void>;
}

/** A real backend in a temporary directory, initialised, on free ports. */
export async function startBenchedBackend(readCpuS: (pid: number) => number): Promise<BenchedBackend> {
  const directory = mkdtempSync(join(tmpdir(), 'mon-bench-'));
  const { username, password } = ADMIN;
  const stateDir = ['--state-dir', directory];
  const init = spawn(process.execPath, [
    BACKEND,
    'init',
    ...stateDir,
    '--cluster-admin-username',
    username,
    '--cluster-admin-password',
    password,
  ]);
  await once(init, 'exit');
  const child = spawn(
    process.execPath,
    [
      ...(process.env['BENCH_PROFILE'] === undefined
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_PROFILE']}`]),
      BACKEND,
      'start',
      ...stateDir,
      '--cache-dir',
      join(directory, 'cache'),
      '--api-listen-address=127.0.0.1:0',
      '--agent-host=127.0.0.1',
      '--agent-port=0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const { api, agents } = await addressesOf(child);
  return {
    api,
    agents,
    cpuS: () => readCpuS(child.pid ?? 0),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function addressesOf(child: ChildProcess): Promise<{ api: number; agents: number }> {
  const portOf = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));
  let text = '';
  for await (const chunk of child.stderr ?? []) {
    text += String(chunk);
    const line = text.split('\n').find((candidate) => candidate.includes('ready to accept events'));
    if (line === undefined) continue;
    child.stderr?.resume();
    const { api, agents } = JSON.parse(line) as { api: string; agents: string };
    return { api: portOf(api), agents: portOf(agents) };
  }
  throw new Error(`backend did not start: ${text}`);
}
