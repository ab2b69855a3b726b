import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { FREE_PORTS } from '../agent/agent-process.ts';
import { ApiClient } from '../support/api-client.ts';
import { eventually, inTime } from '../support/eventually.ts';

export const PROGRAM = fileURLToPath(new URL('../../dist/main/local.cjs', import.meta.url));

/** The value of a secret of the backend. */
export const SECRET = 's3cret-of-the-pager';

/** Ports that the system chooses, for both programs. */
export const FREE: Readonly<Record<string, string>> = {
  MON_BACKEND_API_LISTEN_ADDRESS: '127.0.0.1:0',
  MON_BACKEND_AGENT_PORT: '0',
  MON_BACKEND_LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:0',
  MON_BACKEND_DASHBOARD_PORT: '0',
  ...FREE_PORTS,
};

/** Runs `npm start` with settings with which it must fail. Returns what it printed on standard error. */
export async function failedStart(
  directory: string,
  settings: Readonly<Record<string, string>>,
  argv: readonly string[] = [],
): Promise<{ code: number | null; printed: string }> {
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, [PROGRAM, ...argv], {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await inTime(once(child, 'close'), 'the end of the program', 15_000);
  return { code: child.exitCode, printed };
}

/** What `npm start` runs, in a directory of its own and on free ports. */
export class LocalRun {
  output = '';
  errors = '';
  readonly #child: ChildProcess;

  constructor(directory: string, settings: Readonly<Record<string, string | undefined>> = {}) {
    this.#child = spawn(process.execPath, [PROGRAM], {
      cwd: directory,
      env: { ...process.env, ...FREE, MON_SECRET_PAGER: SECRET, ...settings },
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
  }

  /** Returns an API client that is logged in with the printed password. */
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

  /** Stops to read what it prints. Resolves with the exit code of the program, which fails then. */
  async closeOutput(): Promise<number | null> {
    const exited = once(this.#child, 'exit');
    this.#child.stdout?.destroy();
    await inTime(exited, 'the end after a closed output', 15_000);
    return this.#child.exitCode;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.interrupt();
  }
}
