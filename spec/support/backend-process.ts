import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/main/process/system-clock.ts';
import type { AgentClient, AgentOptions } from './agent-client.ts';
import type { ApiClient } from './api-client.ts';
import { BackendClients, type BackendPorts } from './backend-clients.ts';
import { eventually, inTime } from './eventually.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
import { initialiseForTests } from './initialised-store.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-backend.js', import.meta.url));
const READY = 'backend is running and ready to accept events';
const START_WITHIN_MS = 15_000;
const STOP_WITHIN_MS = 10_000;
/** Signals that a program only gets from a fault of its own. */
const CRASH_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV']);
/** Log lines that the report of a crash shows. */
const REPORTED_LINES = 20;

export interface ProgramRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  withinMs?: number;
  /** A command that runs the rest of its arguments. */
  prefix?: readonly string[];
  /** The program gets SIGTERM when its log contains this text. */
  until?: string;
}

/** Runs `mon-backend` to its end. */
export async function runProgram(
  args: readonly string[],
  { withinMs = START_WITHIN_MS, prefix = [], until }: RunOptions = {},
): Promise<ProgramRun> {
  const [program = '', ...rest] = [...prefix, process.execPath, PROGRAM, ...args];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  let isStopped = false;
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    if (until === undefined || isStopped || !stderr.includes(until)) return;
    isStopped = true;
    child.kill('SIGTERM');
  });
  try {
    await inTime(once(child, 'close'), `the end of mon-backend ${args.join(' ')}`, withinMs);
  } finally {
    child.kill('SIGKILL');
  }
  return { code: child.exitCode, stdout, stderr };
}

export interface StartOptions {
  /** An initialised state directory. The default is a new one, which is initialised, and removed at the end. */
  stateDir?: string;
  /** Further arguments of `mon-backend start`. */
  args?: readonly string[];
  /** A command that replaces itself with the rest of its arguments. */
  prefix?: readonly string[];
  /** Variables added to the environment of the tests. */
  environment?: Readonly<Record<string, string>>;
  /** The limit of open descriptors of the program; that of the tests by default. */
  descriptors?: number;
}

/** Initialises a state directory with the administrator of the tests, in this process. */
export const initialiseState = (stateDir: string): Promise<void> => initialiseForTests(stateDir, systemClock);

/** The real backend program, on free ports. */
export class BackendProcess implements BackendPorts {
  /** Lines of stderr: objects for JSON, strings for other lines. */
  readonly logs: unknown[] = [];
  readonly stateDir: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #own: TemporaryDirectory;
  readonly #clients = new BackendClients(this);
  #ports: { api: number; agent: number; dashboard: number } | undefined;

  private constructor(child: ChildProcess, stateDir: string, own: TemporaryDirectory) {
    this.#child = child;
    this.stateDir = stateDir;
    this.#own = own;
    this.#ended = once(child, 'close');
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => this.logs.push(read(line)));
  }

  /** Starts the program and resolves when it accepts events. */
  static async start(options: StartOptions = {}): Promise<BackendProcess> {
    const { stateDir: given, args = [], prefix = [], environment = {}, descriptors } = options;
    const own = await temporaryDirectory();
    const stateDir = given ?? join(own.path, 'state');
    let backend: BackendProcess | undefined;
    try {
      if (given === undefined) await initialiseState(stateDir);
      const places = ['--state-dir', stateDir, '--cache-dir', join(own.path, 'cache')];
      const command = [...prefix, process.execPath, PROGRAM, 'start', ...places, ...LISTENERS, ...args];
      const [program = '', ...rest] = descriptors === undefined ? command : limited(descriptors, command);
      const child = spawn(program, rest, {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      backend = new BackendProcess(child, stateDir, own);
      await backend.#ready();
      return backend;
    } catch (error) {
      await backend?.kill();
      await own.remove();
      throw error;
    }
  }

  async #ready(): Promise<void> {
    const wait = { what: 'a running backend', withinMs: START_WITHIN_MS };
    const line = await eventually(() => this.#readyLine() ?? this.#child.exitCode !== null, Boolean, wait);
    if (typeof line !== 'object') {
      throw new Error(`the backend ended with ${this.#child.exitCode}: ${JSON.stringify(this.logs)}`);
    }
    const { api, agents, dashboard } = line;
    // The dashboard can be turned off.
    this.#ports = {
      api: portOf(api),
      agent: portOf(agents),
      dashboard: dashboard === undefined ? 0 : portOf(dashboard),
    };
  }

  #readyLine(): Record<string, unknown> | undefined {
    return this.logs
      .filter((line): line is Record<string, unknown> => line !== null && typeof line === 'object')
      .find((line) => line['msg'] === READY);
  }

  get apiPort(): number {
    return this.#ports?.api ?? 0;
  }

  get agentPort(): number {
    return this.#ports?.agent ?? 0;
  }

  get dashboardPort(): number {
    return this.#ports?.dashboard ?? 0;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Logs in as the administrator. The client is closed with the backend. */
  login(): Promise<ApiClient> {
    return this.#clients.login();
  }

  /** Connects an agent. It is disconnected with the backend. @throws HandshakeRefused */
  connect(options: AgentOptions): Promise<AgentClient> {
    return this.#clients.connect(options);
  }

  /**
   * Sends SIGTERM and returns the exit code. Removes the state directory unless the caller provided it.
   * @throws Error when the backend crashed
   */
  async stop(): Promise<number | null> {
    try {
      this.#child.kill('SIGTERM');
      await inTime(this.#ended, 'the end of the backend', STOP_WITHIN_MS);
      if (CRASH_SIGNALS.has(this.#child.signalCode)) {
        const lines = JSON.stringify(this.logs.slice(-REPORTED_LINES));
        throw new Error(`the backend crashed with ${this.#child.signalCode}: ${lines}`);
      }
      return this.#child.exitCode;
    } finally {
      this.#clients.drop();
      await this.kill();
      await this.#own.remove();
    }
  }

  /** Sends SIGKILL. The state directory stays; `remove` or a later `stop` removes the temporary files. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Removes the temporary files of `start`, after `kill`. */
  remove(): Promise<void> {
    return this.#own.remove();
  }
}

const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=127.0.0.1:0',
  '--dashboard-host=127.0.0.1',
  '--dashboard-port=0',
  '--disable-platform-metrics',
  '--log-level=info',
  '--entity-limit=0',
  '--entity-check-limit=0',
];

/** The command with a limit of its open descriptors, under the same process id. */
const limited = (descriptors: number, command: readonly string[]): string[] => [
  'sh',
  '-c',
  `ulimit -n ${descriptors} && exec "$0" "$@"`,
  ...command,
];

function read(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return line;
    throw error;
  }
}

/** Returns the port of `host:port`. */
function portOf(address: unknown): number {
  const port = typeof address === 'string' ? Number(/:(\d+)$/.exec(address)?.[1]) : NaN;
  if (!Number.isInteger(port)) throw new Error(`the backend logged an invalid address: ${JSON.stringify(address)}`);
  return port;
}
