import { Readable, Writable } from 'node:stream';
import type { BackendHost } from '../../src/main/backend-host.ts';
import { runBackend } from '../../src/main/backend-program.ts';
import { createLogger } from '../../src/main/log/logger.ts';
import { readMachine } from '../../src/main/process/machine.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { startBackend } from '../../src/main/start-backend.ts';
import type { ProgramRun } from './backend-process.ts';
import { inTime } from './eventually.ts';
import { ProcessClock } from './process-clock.ts';

export const READY = 'ready to accept events';

interface Options {
  withinMs?: number;
  environment?: Readonly<Record<string, string>>;
  /** The program gets SIGTERM when its log contains this text. */
  until?: string;
}

/**
 * Runs a command of `mon-backend` to its end in the process of the test: its command line, its log and all that it does, without the
 * cost of a process. What depends on the process itself, such as locks between processes, terminals and crashes, needs `runProgram`.
 */
export async function runCommand(
  args: readonly string[],
  { withinMs = 15_000, environment = {}, until }: Options = {},
): Promise<ProgramRun> {
  const output = { stdout: '', stderr: '' };
  const handlers = new Map<NodeJS.Signals, (signal: NodeJS.Signals) => void>();
  const clock = new ProcessClock(systemClock);
  let end: (code: number) => void = () => undefined;
  const exited = new Promise<number>((resolve) => (end = resolve));
  const print = (text: string): void => {
    output.stdout += text;
  };
  const shown = new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString());
      done();
    },
  });
  const host: BackendHost = {
    environment,
    columns: undefined,
    clock,
    console: { input: Readable.from([]), output: shown },
    load: () => Promise.resolve({ startBackend, readMachine }),
    print,
    printError: (text) => (output.stderr += text),
    on: (signal, handle) => void handlers.set(signal, handle),
    exit: end,
    yieldProcessor: () => undefined,
  };
  let isStopped = false;
  const write = (line: string): void => {
    output.stderr += line;
    if (until === undefined || isStopped || !output.stderr.includes(until)) return;
    isStopped = true;
    setImmediate(() => handlers.get('SIGTERM')?.('SIGTERM'));
  };
  const running = runBackend(args, host, createLogger('mon-backend', 'warn', { write }));
  const code = running.then((returned) => returned ?? exited);
  try {
    return { code: await inTime(code, `the end of mon-backend ${args.join(' ')}`, withinMs), ...output };
  } finally {
    clock.stop();
  }
}
