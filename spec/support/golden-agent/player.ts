import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { AgentProcess } from '../../agent/agent-process.ts';
import { InProcessAgent, type RunningAgent } from '../../agent/in-process-agent.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { eventually } from '../eventually.ts';
import type { ManualClock } from '../manual-clock.ts';
import type { TemporaryDirectory } from '../temporary-directory.ts';
import type { AssetServer } from './asset-server.ts';
import { agentDifference, inOurNames } from './compare.ts';
import { http, tcp, type TcpOptions, udp } from './local-clients.ts';
import { checkOf, type PlayedBackend, type PlayedFrame, type PlayedSession } from './played-backend.ts';
import { postAtOnce, type PostsStep } from './posted-rate.ts';
import type { Refusal, Step } from './scenario.ts';

const FRAME_WITHIN_MS = 30_000;
/** The start of the program, until its first log line, takes long on a busy machine. The recorded times begin there. */
const STARTED_WITHIN_MS = 30_000;
const LEVEL_FLAG = '--log-level';

export interface Ports {
  readonly api: number;
  readonly sock: number;
  readonly statsd: number;
  readonly dead: number;
}

interface StartStep {
  flags?: readonly string[];
  env?: Record<string, string>;
  omit?: readonly string[];
  api?: boolean;
}

/** The members of steps, once their places are filled in. Each kind of step has some of them. */
interface Filled {
  flags: string[];
  env: Record<string, string>;
  omit: string[];
  api: boolean;
  args: string[];
  n: number;
  backend: number;
  within_ms: number;
  count: number;
  type: string;
  json: object;
  base64: string;
  check: string;
  ms: number;
  name: string;
  request: Record<string, unknown>;
  event: boolean;
  method: string;
  path: string;
  body: unknown;
  prefix: string;
  between_ms: readonly [number, number];
  packets: unknown[];
  flushes: number;
  level: string;
  msg: string;
  error: string;
  signal: NodeJS.Signals;
  refuse: Refusal | null;
}

/** How agents run: as processes, or in the process of the test, if need be with a manual clock. */
export type AgentKind = 'process' | { readonly clock: ManualClock | undefined };

/** Plays the steps of one scenario with an agent. */
export class Player {
  readonly #kind: AgentKind;
  readonly #directory: TemporaryDirectory;
  readonly #ports: Ports;
  readonly #backends: readonly PlayedBackend[];
  readonly #assets: AssetServer;
  readonly #agents: RunningAgent[] = [];
  #issued = Math.floor(Date.now() / 1_000) - 100_000;
  #takenSessions = 0;
  /** Of the current step. */
  #index = 0;

  constructor(
    kind: AgentKind,
    directory: TemporaryDirectory,
    ports: Ports,
    backends: readonly PlayedBackend[],
    assets: AssetServer,
  ) {
    this.#kind = kind;
    this.#directory = directory;
    this.#ports = ports;
    this.#backends = backends;
    this.#assets = assets;
  }

  /** The values of places such as `@dir@`. */
  get #places(): Record<string, string | number> {
    const { api, sock, statsd, dead } = this.#ports;
    const backends = Object.fromEntries(this.#backends.map(({ port }, index) => [`b${index + 1}`, port]));
    return { dir: this.#directory.path, api, sock, statsd, dead, ...backends, files: this.#assets.port };
  }

  get #backend(): PlayedBackend {
    const [backend] = this.#backends;
    if (backend === undefined) throw new Error('the scenario has no backend');
    return backend;
  }

  get #agent(): RunningAgent {
    const agent = this.#agents.at(-1);
    if (agent === undefined) throw new Error('no agent was started');
    return agent;
  }

  writeFile(path: string, content: string | { text: string; mode?: string }): void {
    const { text, mode } = typeof content === 'string' ? { text: content, mode: undefined } : content;
    const full = join(this.#directory.path, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, this.filled(text), mode === undefined ? {} : { mode: Number.parseInt(mode, 8) });
  }

  async stop(): Promise<void> {
    for (const agent of this.#agents) await agent.kill();
  }

  /** The last lines of the log of the agent, for the report of a difference. */
  get recentLog(): string {
    return this.#agents.at(-1)?.stderr.split('\n').slice(-12).join('\n') ?? '';
  }

  filled<T>(value: T): T {
    if (typeof value === 'string') return this.#filledText(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.filled(item)) as T;
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [this.#filledText(name) as string, this.filled(member as unknown)]),
    ) as T;
  }

  #filledText(text: string): string | number {
    if (text === '@issue@') return ++this.#issued;
    if (text === '@issued@') return this.#issued;
    const now = /^@now([+-]\d+)?@$/.exec(text);
    if (now !== null) return Math.floor(Date.now() / 1_000) + Number(now[1] ?? 0);
    const places = this.#places;
    return text.replaceAll(/@(\w+)@/g, (whole, name: string) => String(places[name] ?? whole));
  }

  /** `index` counts from 0. @throws Error that describes the difference */
  async play(step: Step, index: number): Promise<void> {
    this.#index = index;
    const { op } = step;
    const unfilled = { ...step, expect: undefined, ours: undefined };
    const expected = this.filled(inOurNames('ours' in step ? step.ours : step.expect));
    const filled = this.filled(unfilled) as unknown as Filled;
    const actual = await (op === 'log' ? this.#log(filled, expected) : this.#do(op, filled));
    if (expected === undefined || actual === undefined) return;
    const difference = agentDifference(expected, actual, step.unordered);
    if (difference !== undefined) throw new Error(difference);
  }

  #do(op: string, step: Filled): unknown {
    const operations: Record<string, () => unknown> = {
      start: () => this.#start(step),
      run: () => this.#run(step.args, step.env),
      session: () => this.#session(step),
      handshakes: () => this.#handshakes(step),
      send: () => this.#backend.send(step.type, step.json),
      'send-raw': () => this.#backend.sendRaw(Buffer.from(step.base64, 'base64')),
      frame: () => this.#frame(step),
      none: () => this.#none(step),
      check: () => this.#check(step),
      http: () => http(this.#ports.api, step.method, step.path, step.body),
      posts: () => this.#posts(step),
      tcp: () => tcp(this.#ports.sock, step as unknown as TcpOptions),
      udp: () => udp(this.#ports.sock, step.packets),
      packets: () => udp(this.#ports.statsd, step.packets),
      statsd: () => this.#statsd(step),
      'no-log': () => this.#noLog(step),
      requests: () => this.#assets.requests.splice(0),
      path: () => this.#path(step),
      closed: () => this.#closed(step),
      signal: () => this.#agent.signal(step.signal),
      exit: () => this.#exit(step),
      kill9: () => this.#agent.kill(),
      alive: () => this.#alive(),
      drop: () => this.#backend.drop(),
      'backend-down': () => this.#backend.down(),
      'backend-up': () => this.#backend.up(),
      refuse: () => void (this.#backend.refusal = step.refuse),
      forget: () => this.#forget(),
      sleep: () => wait(step.ms),
    };
    const operation = operations[op];
    if (operation === undefined) throw new Error(`unknown step ${op}`);
    return operation();
  }

  async #start({ flags = [], env = {}, omit = [], api = false }: StartStep): Promise<void> {
    const { dir, api: apiPort, sock, statsd, b1 } = this.#places;
    const defaults: Record<string, string> = {
      '--name': 'golden',
      '--backend-url': `ws://127.0.0.1:${b1}`,
      '--cache-dir': `${dir}/cache`,
      '--api-port': String(apiPort),
      '--socket-port': String(sock),
      '--statsd-metrics-port': String(statsd),
      [LEVEL_FLAG]: 'debug',
    };
    const given = new Set(flags.map((flag) => flag.split('=', 1)[0]));
    const own = Object.entries(defaults).filter(
      ([flag]) => !given.has(flag) && !omit.includes(flag.slice(2)) && !omit.includes(flag),
    );
    this.#agents.push(this.#newAgent(['start', ...own.flat(), ...flags], env));
    if (!api) return;
    await eventually(
      () =>
        http(Number(apiPort), 'GET', '/version').then(
          () => true,
          () => false,
        ),
      Boolean,
      { what: 'the HTTP API', withinMs: FRAME_WITHIN_MS },
    );
  }

  #newAgent(args: readonly string[], env: Record<string, string>): RunningAgent {
    if (this.#kind === 'process') return new AgentProcess(args, env, this.#directory.path);
    return new InProcessAgent(args, env, this.#kind.clock ?? systemClock);
  }

  /** The first run of a scenario is a real process. */
  async #run(args: readonly string[], env: Record<string, string> = {}): Promise<object> {
    const isFirst = this.#index === 0;
    const agent = isFirst ? new AgentProcess(args, env, this.#directory.path) : this.#newAgent(args, env);
    try {
      const exit = await agent.ended();
      const { stdout, stderr } = agent;
      return { exit, stdout, stderr, fatal: logLines(stderr).find(({ level }) => level === 'fatal') };
    } finally {
      await agent.kill();
    }
  }

  /** Waits for the first log line, or for `isDone`: with some log levels there is no line. */
  async #started(isDone: () => boolean): Promise<void> {
    const hasStarted = (): boolean => this.#agents.at(-1)?.stderr !== '' || isDone();
    await eventually(hasStarted, Boolean, { what: 'the start of the agent', withinMs: STARTED_WITHIN_MS });
  }

  async #session({
    n,
    backend = 1,
    within_ms: withinMs = FRAME_WITHIN_MS,
  }: {
    n?: number;
    backend?: number;
    within_ms?: number;
  }): Promise<PlayedSession> {
    const played = this.#backends[backend - 1];
    const index = n === undefined ? this.#takenSessions : n - 1;
    const found = (): PlayedSession | undefined => played?.sessions[index];
    await this.#started(() => found() !== undefined);
    const session = await eventually(found, Boolean, { what: `session ${index + 1}`, withinMs });
    if (session === undefined) throw new Error('no session');
    this.#takenSessions = Math.max(this.#takenSessions, index + 1);
    return session;
  }

  async #handshakes({ backend = 1, count }: { backend?: number; count: number }): Promise<void> {
    await eventually(
      () => this.#backends[backend - 1]?.handshakes ?? 0,
      (seen) => seen >= count,
      {
        what: `${count} handshakes`,
        withinMs: 20_000,
      },
    );
  }

  #untaken({ type, check }: { type: string; check?: string }): PlayedFrame | undefined {
    const frames = this.#backends.flatMap((backend) => backend.frames);
    return frames.find(
      (frame) => !frame.isTaken && frame.type === type && (check === undefined || checkOf(frame) === check),
    );
  }

  async #frame(step: { type: string; check?: string; within_ms?: number }): Promise<unknown> {
    const { type, check = '', within_ms: withinMs = FRAME_WITHIN_MS } = step;
    const frame = await eventually(() => this.#untaken(step), Boolean, { what: `a frame ${type} ${check}`, withinMs });
    if (frame === undefined) throw new Error('no frame');
    frame.isTaken = true;
    return frame.body;
  }

  async #none(step: { type: string; check?: string; ms: number }): Promise<void> {
    await wait(step.ms);
    const frame = this.#untaken(step);
    if (frame !== undefined) throw new Error(`unexpected ${step.type}: ${JSON.stringify(frame.body).slice(0, 400)}`);
  }

  async #check(step: {
    name?: string;
    request: Record<string, unknown>;
    event?: boolean;
    ms?: number;
  }): Promise<unknown> {
    const { name = `c${this.#index}`, request, event = true, ms = 300 } = step;
    const config = request['config'] as Record<string, unknown>;
    const filled = {
      interval: 60,
      subscriptions: ['x'],
      publish: true,
      handlers: [],
      ...config,
      metadata: { name, namespace: 'default', ...(config['metadata'] as object | undefined) },
    };
    const { name: sentName } = filled.metadata as { name: string };
    this.#backend.send('check_request', { issued: (this.#issued += 1), ...request, config: filled });
    if (!event) return this.#none({ type: 'event', check: sentName, ms });
    return this.#frame({ type: 'event', check: sentName, within_ms: 20_000 });
  }

  #posts(step: PostsStep): Promise<object> {
    const clock = this.#kind === 'process' ? undefined : this.#kind.clock;
    if (clock === undefined) throw new Error('a rate needs an agent with a manual clock');
    return postAtOnce(step, { apiPort: this.#ports.api, backend: this.#backend, clock });
  }

  /** Waits for the end of a flush, sends, and collects the points of the following flushes. */
  async #statsd(step: Filled): Promise<unknown> {
    const { packets, prefix, flushes = 1, event } = step as Partial<Filled> & Pick<Filled, 'packets' | 'prefix'>;
    interface Metrics {
      metrics?: { points: { name: string }[] };
    }
    const next = async (): Promise<Metrics> => (await this.#frame({ type: 'event', within_ms: 5_000 })) as Metrics;
    this.#forget();
    await next();
    await udp(this.#ports.statsd, packets);
    const found: { points: unknown[] }[] = [];
    for (let tries = 0; found.length < flushes && tries < 4 + flushes; tries += 1) {
      const body = await next();
      const points = (body.metrics?.points ?? []).filter(({ name }) => name.startsWith(prefix));
      if (points.length === 0) continue;
      if (event === true) return { ...body, metrics: { ...body.metrics, points } };
      found.push({ points });
    }
    return { flushes: found };
  }

  /** Waits for a line that fits, and looks for one that fits `expected` too. */
  async #log({ level, msg, error }: Pick<Filled, 'level' | 'msg' | 'error'>, expected: unknown): Promise<unknown> {
    const wanted = inOurNames({ ...(level && { level }), ...(msg && { msg }), ...(error && { error }) });
    const lines = (): Record<string, unknown>[] => logLines(this.#agent.stderr);
    const fitting = (): Record<string, unknown>[] =>
      lines().filter((line) => agentDifference(wanted, line) === undefined);
    const what = `the log line ${JSON.stringify(wanted)}`;
    await eventually(fitting, (found) => found.length > 0, { what, withinMs: 20_000 });
    return fitting().find((line) => agentDifference(expected, line) === undefined) ?? fitting()[0];
  }

  async #noLog({ msg, ms = 0 }: { msg: string; ms?: number }): Promise<void> {
    await wait(ms);
    const line = logLines(this.#agent.stderr).find((each) => agentDifference({ msg }, each) === undefined);
    if (line !== undefined) throw new Error(`unexpected log line ${JSON.stringify(line)}`);
  }

  #path({ path, json }: { path: string; json?: unknown }): object {
    if (!existsSync(path)) return { exists: false };
    const text = readFileSync(path, 'utf8');
    return { exists: true, text, ...(json === true ? { json: JSON.parse(text) as unknown } : {}) };
  }

  async #closed({ n, within_ms: withinMs = FRAME_WITHIN_MS }: { n: number; within_ms?: number }): Promise<unknown> {
    return eventually(() => this.#backend.sessions[n - 1]?.closed, Boolean, { what: 'the close frame', withinMs });
  }

  async #exit({ within_ms: withinMs = 20_000 }: { within_ms?: number }): Promise<object> {
    const agent = this.#agent;
    await this.#started(() => !agent.isAlive);
    await eventually(() => !agent.isAlive, Boolean, { what: 'the end of the agent', withinMs });
    return { code: await agent.ended(), fatal: logLines(agent.stderr).find(({ level }) => level === 'fatal') };
  }

  #alive(): void {
    if (!this.#agent.isAlive) throw new Error('the agent has ended');
  }

  #forget(): void {
    for (const backend of this.#backends) for (const frame of backend.frames) frame.isTaken = true;
  }
}

const logLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
