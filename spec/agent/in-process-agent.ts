import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAgentConfig } from '../../src/config/agent.ts';
import { type AgentParts, runAgent } from '../../src/main/agent-program.ts';
import { startAgent } from '../../src/main/start-agent.ts';
import { createLogger } from '../../src/main/log/logger.ts';
import type { Host } from '../../src/main/process/host.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { inTime } from '../support/eventually.ts';
import { ProcessClock } from '../support/process-clock.ts';
import { type AgentProcess, cleanEnvironment, logLines, STOP_WITHIN_MS, testerFlags } from './agent-process.ts';

/** Imported statically, because `import()` would load their modules a second time here. */
const PARTS: AgentParts = {
  config: () => Promise.resolve({ parseAgentConfig }),
  start: () => Promise.resolve({ startAgent }),
};

/** An agent that a test has started. */
export type RunningAgent = AgentProcess | InProcessAgent;

/**
 * The agent program in the process of the test: its command line, its configuration, its log and all its parts, without the cost of
 * a process. Commands that it runs have the environment and the working directory of the test.
 */
export class InProcessAgent {
  stdout = '';
  stderr = '';
  readonly #cacheDir = mkdtempSync(join(tmpdir(), 'mon-agent-spec-'));
  readonly #handlers = new Map<NodeJS.Signals, (signal: NodeJS.Signals) => void>();
  readonly #clock: ProcessClock;
  readonly #running: ReturnType<typeof runAgent>;
  readonly #ended: Promise<void>;
  #exitCode: number | undefined;
  #isOver = false;
  #end = (): void => undefined;

  constructor(args: readonly string[], environment: Record<string, string> = {}, clock: Clock = systemClock) {
    this.#clock = new ProcessClock(clock);
    const log = createLogger('agent', 'info', { write: (line) => (this.stderr += line) });
    const host: Host = {
      environment: { ...cleanEnvironment(), MON_CACHE_DIR: this.#cacheDir, ...environment },
      columns: undefined,
      clock: this.#clock,
      print: (text) => (this.stdout += text),
      on: (signal, handle) => void this.#handlers.set(signal, handle),
      exit: (code) => this.#exit(code),
    };
    const asked = new Promise<void>((resolve) => (this.#end = resolve));
    this.#running = runAgent(args, { host, log, parts: PARTS });
    const finished = this.#running.then((agent) => {
      if (agent === undefined) this.#exit(0);
    });
    this.#ended = Promise.all([finished, asked]).then(() => this.#close());
  }

  static start(backendUrl: string, ...flags: string[]): InProcessAgent {
    return new InProcessAgent(testerFlags(backendUrl, flags));
  }

  /** The lines of the log, which are all JSON. */
  get log(): Record<string, unknown>[] {
    return logLines(this.stderr);
  }

  get isAlive(): boolean {
    return !this.#isOver;
  }

  /** Delivers a signal. One that the program does not handle ends it without an exit code. */
  signal(signal: NodeJS.Signals): void {
    const handle = this.#handlers.get(signal);
    if (handle !== undefined) handle(signal);
    else this.#end();
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    await inTime(this.#ended, 'the end of the agent', STOP_WITHIN_MS);
    return this.#exitCode ?? null;
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.ended();
  }

  /** Ends the agent without waiting for its checks. */
  async kill(): Promise<void> {
    this.#end();
    await this.#ended;
  }

  #exit(code: number): void {
    this.#exitCode ??= code;
    this.#end();
  }

  /** Stops what a process would have lost at its end. */
  async #close(): Promise<void> {
    const agent = await this.#running;
    agent?.abort();
    await agent?.stop();
    this.#clock.stop();
    await rm(this.#cacheDir, { recursive: true, force: true });
    this.#isOver = true;
  }
}
