import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTime } from '../support/eventually.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-agent.js', import.meta.url));
const STOP_WITHIN_MS = 20_000;

/** Nothing of the tester's own settings may reach the agent. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MON_')));

/** The built program. Unless it is given a cache directory, it has a temporary one, which is removed when it ends. */
export class AgentProcess {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #cacheDir = mkdtempSync(join(tmpdir(), 'mon-agent-spec-'));
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], environment: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...cleanEnvironment(), MON_CACHE_DIR: this.#cacheDir, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#ended = once(this.child, 'close').then(() => rm(this.#cacheDir, { recursive: true, force: true }));
  }

  static start(backendUrl: string, ...flags: string[]): AgentProcess {
    const own = ['--name', 'tester', '--backend-url', backendUrl, '--log-level', 'debug'];
    return new AgentProcess(['start', ...own, ...flags]);
  }

  /** The lines of the log, which are all JSON. */
  get log(): Record<string, unknown>[] {
    const lines = this.stderr.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    await inTime(this.#ended, 'the end of the agent', STOP_WITHIN_MS);
    return this.child.exitCode;
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.ended();
  }

  async kill(): Promise<void> {
    if (this.isAlive) this.child.kill('SIGKILL');
    await this.#ended;
  }
}
