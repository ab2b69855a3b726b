import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTime } from '../support/eventually.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-agent.js', import.meta.url));
export const STOP_WITHIN_MS = 20_000;

/** Free ports for the local inputs of an agent, so that agents can run side by side. Flags take precedence. */
export const FREE_PORTS = { MON_API_PORT: '0', MON_SOCKET_PORT: '0', MON_STATSD_METRICS_PORT: '0' };

/** Nothing of the tester's own settings may reach the agent. */
export const cleanEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MON_'))),
  ...FREE_PORTS,
});

/** The command line of an agent with the name `tester`. */
export const testerFlags = (backendUrl: string, flags: readonly string[]): string[] => [
  'start',
  '--name',
  'tester',
  '--backend-url',
  backendUrl,
  '--log-level',
  'debug',
  ...flags,
];

/** The whole lines of a log, which are all JSON. */
export const logLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The built program. Unless it is given a cache directory, it has a temporary one, which is removed when it ends. */
export class AgentProcess {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #cacheDir = mkdtempSync(join(tmpdir(), 'mon-agent-spec-'));
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], environment: Record<string, string> = {}, cwd?: string) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...cleanEnvironment(), MON_CACHE_DIR: this.#cacheDir, ...environment },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#ended = once(this.child, 'close').then(() => rm(this.#cacheDir, { recursive: true, force: true }));
  }

  static start(backendUrl: string, ...flags: string[]): AgentProcess {
    return new AgentProcess(testerFlags(backendUrl, flags));
  }

  /** The lines of the log, which are all JSON. */
  get log(): Record<string, unknown>[] {
    return logLines(this.stderr);
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    await inTime(this.#ended, 'the end of the agent', STOP_WITHIN_MS);
    return this.child.exitCode;
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.ended();
  }

  async kill(): Promise<void> {
    if (this.isAlive) this.child.kill('SIGKILL');
    await this.#ended;
  }
}
