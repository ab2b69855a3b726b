import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../support/backend-command.ts';
import { inTime } from '../../support/eventually.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));
const READY = 'backend is running and ready to accept events';
const END_WITHIN_MS = 60_000;
/** Programs that run side by side. */
const AT_ONCE = 3;

interface Expected {
  exit?: number | null;
  ready?: boolean;
  stdout?: string;
  stderr?: '<any>' | { error?: string }[];
}

interface Step {
  op: string;
  argv?: readonly string[];
  env?: Readonly<Record<string, string>>;
  expect: Expected;
  ours?: Expected;
}

interface Recording {
  files: Readonly<Record<string, string>>;
  steps: readonly Step[];
}

/** Steps at which the program differs on purpose (docs/differences.md). */
const OURS: Readonly<Record<string, Expected>> = {
  // A surplus argument is an error.
  'argv 2': { exit: 1, stdout: '', stderr: [{ error: '"extra"' }] },
  // `--version` prints the version.
  'argv 13': { exit: 0, stdout: '<program> version <string>\n', stderr: [] },
};

const readRecording = (name: string): Recording =>
  JSON.parse(
    readFileSync(fileURLToPath(new URL(`../../golden/backend/${name}.json`, import.meta.url)), 'utf8'),
  ) as Recording;

interface Command {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

function commandOf({ op, argv = [], env = {} }: Step, directory: string, state: string): Command {
  const safe = {
    STATE_DIR: join(directory, state),
    CACHE_DIR: join(directory, 'cache'),
    API_LISTEN_ADDRESS: '127.0.0.1:0',
    AGENT_HOST: '127.0.0.1',
    AGENT_PORT: '0',
    LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:0',
    DISABLE_PLATFORM_METRICS: 'true',
  };
  const placed = (text: string): string => text.replaceAll('<dir>', directory);
  const variables = Object.entries({ ...safe, ...env }).map(([name, value]) => [`MON_BACKEND_${name}`, placed(value)]);
  const args = [...(op === 'start' ? ['start'] : []), ...argv].map(placed);
  return { args, env: Object.fromEntries(variables) as Record<string, string> };
}

interface Result {
  stdout: string;
  stderr: string;
  ready: boolean;
  exit: number | null;
}

/** Runs a command that ends before the backend starts, in this process. */
async function runHere({ args, env: environment }: Command): Promise<Result> {
  const { code, stdout, stderr } = await runCommand(args, { environment, withinMs: END_WITHIN_MS });
  return { stdout, stderr, ready: false, exit: code };
}

/** Runs the program to its end. One that becomes ready is stopped, and has no exit code. */
async function run({ args, env }: Command): Promise<Result> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
    if (output.stderr.includes(READY)) child.kill('SIGTERM');
  });
  try {
    await inTime(once(child, 'close'), `the end of mon-backend ${args.join(' ')}`, END_WITHIN_MS);
  } finally {
    child.kill('SIGKILL');
  }
  const isReady = output.stderr.includes(READY);
  return { ...output, ready: isReady, exit: isReady ? null : child.exitCode };
}

/** Starts of a backend, and what reads the terminal, need a process, and one command of each recording has one. */
const isProcess = ({ op }: Step, { exit = null, stdout }: Expected, index: number): boolean =>
  index === 0 || op === 'start' || exit === null || stdout === '<prompt>';

/** The flags, files and values that the recorded errors quote. The store has another place in the state directory. */
const quotedIn = (lines: Expected['stderr'], directory: string): string[] =>
  (Array.isArray(lines) ? lines : [])
    .flatMap(({ error = '' }) => error.match(/--[\w-]+|<dir>[^\s:]*|"[^"<\\]+"/g) ?? [])
    .map((text) => text.replace('<dir>', directory).replace('/etcd/data', '').replaceAll('"', ''));

function assertExpected(expected: Expected, result: Result, directory: string): void {
  const { exit = null, ready = exit === null } = expected;
  expect(result).to.include({ exit, ready });
  if (expected.stdout === '<usage>') expect(result.stdout).to.match(/^Usage: mon-backend/);
  else if (expected.stdout?.startsWith('<program> version')) expect(result.stdout).to.match(/^mon-backend version \S/);
  else if (expected.stdout === '') expect(result.stdout).to.equal('');
  if (exit !== 1) return;
  const lines = result.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string; error?: string });
  expect(lines.some(({ level, msg }) => level === 'fatal' && msg !== '')).to.equal(true);
  const errors = lines.map(({ error }) => error ?? '').join('\n');
  for (const text of quotedIn(expected.stderr, directory)) expect(errors).to.contain(text);
}

describe('mon-backend, run as the reference was when it was recorded', function () {
  this.timeout(300_000);

  for (const name of ['argv', 'config', 'start-refused']) {
    it(`ends as recorded and names what the recorded errors name: backend/${name}`, async () => {
      const { files, steps } = readRecording(name);
      const directory = await temporaryDirectory();
      for (const [file, text] of Object.entries(files))
        writeFileSync(join(directory.path, file), text, { mode: 0o600 });
      const failures: string[] = [];
      const play = async (step: Step, index: number): Promise<void> => {
        const expected = OURS[`${name} ${index}`] ?? step.ours ?? step.expect;
        const command = commandOf(step, directory.path, `state-${index}`);
        const result = await (isProcess(step, expected, index) ? run(command) : runHere(command));
        try {
          assertExpected(expected, result, directory.path);
        } catch (error) {
          failures.push(`step ${index} (${step.argv?.join(' ')}): ${String(error)}\n${result.stderr}`);
        }
      };
      try {
        for (let index = 0; index < steps.length; index += AT_ONCE) {
          const next = steps.slice(index, index + AT_ONCE);
          await Promise.all(next.map((step, offset) => play(step, index + offset)));
        }
      } finally {
        await directory.remove();
      }
      expect(failures.join('\n')).to.equal('');
    });
  }
});
