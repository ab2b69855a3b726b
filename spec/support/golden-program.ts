import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually, inTime } from './eventually.ts';
import { difference } from './golden-match.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-backend.js', import.meta.url));
const READY = 'backend is running and ready to accept events';
const WITHIN_MS = 30_000;
/** The headers that the recordings have. */
const HEADERS = ['content-type', 'retry-after', 'x-content-type-options'];

export interface ProgramStep {
  op: 'start' | 'run' | 'http' | 'signal' | 'stop' | 'file' | 'rename' | 'wait';
  argv?: readonly string[];
  env?: Readonly<Record<string, string>>;
  port?: 'agent';
  path?: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  as?: 'basic' | 'admin' | 'key';
  user?: string;
  password?: string;
  key?: string;
  signal?: NodeJS.Signals;
  from?: string;
  to?: string;
  seconds?: number;
  expect?: Record<string, unknown>;
  ours?: Record<string, unknown>;
}

/** Texts that are JSON are compared as values, because their order and their line ends are free. */
function withParsedText(result: Record<string, unknown>): Record<string, unknown> {
  const { text } = result;
  if (typeof text !== 'string' || !/^\s*["{[]/.test(text)) return result;
  return { ...result, text: JSON.parse(text.replaceAll(/([:[,])(<\w+>)/g, '$1"$2"')) as unknown };
}

/** Replays a recording of the backend program: commands, requests, signals and files, in one directory. */
export class GoldenProgram {
  readonly #directory: string;
  #child: ChildProcess | undefined;
  #stderr = '';
  #token = '';

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Does a step, and returns how its result differs from what is expected; undefined when it does not. */
  async play(step: ProgramStep, expected: Record<string, unknown>): Promise<string | undefined> {
    const result = await this.#do(step, expected);
    const compared = Object.fromEntries(
      Object.entries(expected).filter(([name]) => name !== 'stderr' && Object.hasOwn(result, name)),
    );
    const named = JSON.parse(JSON.stringify(compared).replaceAll('sensu-system', 'mon-system')) as typeof compared;
    return difference(withParsedText(named), withParsedText(result));
  }

  async end(): Promise<void> {
    if (this.#child === undefined || this.#hasEnded) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }

  get #hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #do(step: ProgramStep, expected: Record<string, unknown>): Promise<Record<string, unknown>> {
    switch (step.op) {
      case 'start':
        return this.#start(step);
      case 'run':
        return this.#run(step, expected);
      case 'http':
        return this.#request(step);
      case 'signal':
        this.#child?.kill(step.signal ?? 'SIGTERM');
        await delay(100);
        return { alive: !this.#hasEnded };
      case 'stop':
        return this.#stop(step);
      case 'file':
        return this.#file(this.#placed(step.path ?? ''));
      case 'rename':
        renameSync(this.#placed(step.from ?? ''), this.#placed(step.to ?? ''));
        return {};
      case 'wait':
        await delay((step.seconds ?? 0) * 1_000);
        return {};
    }
  }

  async #start({ argv = [], env = {} }: ProgramStep): Promise<Record<string, unknown>> {
    this.#stderr = '';
    const child = this.#spawn(['start', ...argv], env);
    this.#child = child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    await eventually(() => this.#stderr.includes(READY) || this.#hasEnded, Boolean, { withinMs: WITHIN_MS });
    return { ready: this.#stderr.includes(READY) };
  }

  async #run({ argv = [], env = {} }: ProgramStep, expected: Record<string, unknown>) {
    const child = this.#spawn(argv, env);
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    try {
      await inTime(once(child, 'close'), `the end of mon-backend ${argv.join(' ')}`, WITHIN_MS);
    } finally {
      child.kill('SIGKILL');
    }
    const hasReason = child.exitCode !== 1 || /"level":"(fatal|error)".*"msg":"/.test(output.stderr);
    // The prompt is free; a run that asks for a confirmation without a terminal ends instead.
    const stdout = expected['stdout'] === '<prompt>' ? '<prompt>' : output.stdout;
    return { exit: hasReason ? child.exitCode : 'an exit code without a line of JSON that gives the reason', stdout };
  }

  async #request({ port, path = '', method = 'GET', headers = {}, body, ...step }: ProgramStep) {
    const credentials =
      step.as === 'basic'
        ? `Basic ${Buffer.from(`${step.user}:${step.password}`).toString('base64')}`
        : step.as === 'key'
          ? `Key ${step.key}`
          : step.as === 'admin'
            ? `Bearer ${this.#token}`
            : undefined;
    const answer = await fetch(`http://127.0.0.1:${this.#portOf(port === 'agent' ? 'agents' : 'api')}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(credentials === undefined ? {} : { authorization: credentials }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (path === '/auth' && answer.ok) this.#token = (JSON.parse(text) as { access_token: string }).access_token;
    const found = HEADERS.map((name) => [name, answer.headers.get(name) ?? undefined] as const);
    return {
      status: answer.status,
      headers: Object.fromEntries(found),
      text: path === '/auth' && answer.ok ? this.#token : text,
    };
  }

  #portOf(listener: 'api' | 'agents'): string {
    const ready = this.#stderr.split('\n').find((line) => line.includes(READY)) ?? '{}';
    return /:(\d+)$/.exec(String((JSON.parse(ready) as Record<string, unknown>)[listener]))?.[1] ?? '0';
  }

  async #stop({ signal = 'SIGTERM' }: ProgramStep): Promise<Record<string, unknown>> {
    const child = this.#child;
    if (child === undefined) return {};
    const closed = once(child, 'close');
    child.kill(signal);
    await inTime(closed, 'the end of the backend', WITHIN_MS);
    return { exit: child.exitCode, signal: child.signalCode };
  }

  #file(path: string): Record<string, unknown> {
    if (!existsSync(path)) return { exists: false };
    const stats = statSync(path);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isDirectory()) return { exists: true, mode };
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    const checks = lines.map(
      (line) => (JSON.parse(line) as { check: { metadata: { name: string } } }).check.metadata.name,
    );
    return { exists: true, mode, checks };
  }

  #spawn(argv: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const safe = {
      STATE_DIR: join(this.#directory, 'state'),
      CACHE_DIR: join(this.#directory, 'cache'),
      API_LISTEN_ADDRESS: '127.0.0.1:0',
      AGENT_HOST: '127.0.0.1',
      AGENT_PORT: '0',
      DASHBOARD_HOST: '127.0.0.1',
      DASHBOARD_PORT: '0',
      LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:0',
      DISABLE_PLATFORM_METRICS: 'true',
    };
    const variables = Object.entries({ ...safe, ...env }).map(([name, value]) => [`MON_BACKEND_${name}`, value]);
    return spawn(process.execPath, [PROGRAM, ...argv.map((text) => this.#placed(text))], {
      env: { PATH: process.env['PATH'], ...(Object.fromEntries(variables) as Record<string, string>) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  #placed(text: string): string {
    return text.replaceAll('<dir>', this.#directory);
  }
}
