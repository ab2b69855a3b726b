import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../process/package-root.ts';

export interface Child {
  name: 'backend' | 'agent';
  process: ChildProcess;
}

const program = (name: string): string => join(PACKAGE_ROOT, `dist/main/${name}.cjs`);

/** A log of a program. */
export interface ProgramLog {
  path: string;
  lines: WriteStream;
}

/** Opens a log, to which the lines of a program are appended. @throws Error that names the file */
export function openLog(path: string): ProgramLog {
  try {
    return { path, lines: createWriteStream(path, { fd: openSync(path, 'a') }) };
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`the log ${path} must be writable: ${message}; MON_BACKEND_STATE_DIR moves it`, { cause: error });
  }
}

/**
 * Starts a detached child: Ctrl-C reaches only this process, which then ends the children in order. A log that can no longer be
 * written is reported once, and the child runs on without it.
 */
export function run(name: Child['name'], env: NodeJS.ProcessEnv, { path, lines }: ProgramLog): Child {
  const child = spawn(process.execPath, [program(name), 'start'], {
    detached: true,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  lines.once('error', ({ message }) => {
    process.stderr.write(`the log ${path} of the ${name} cannot be written: ${message}\n`);
    // A program whose lines nobody reads would stop at the next one.
    child.stderr.resume();
  });
  child.stderr.pipe(lines);
  return { name, process: child };
}

const isRunning = ({ process: child }: Child): boolean => child.exitCode === null && child.signalCode === null;

/** Ends the children one after the other, the last started first. Resolves when they are gone. */
export async function stopAll(children: readonly Child[]): Promise<void> {
  for (const child of [...children].reverse()) {
    if (!isRunning(child)) continue;
    const exited = once(child.process, 'exit');
    child.process.kill('SIGTERM');
    await exited;
  }
}

/** Ends the children without a clean stop. Their own commands end too. */
export function killAll(children: readonly Child[]): void {
  for (const { process: child } of children) child.kill('SIGKILL');
}

/** Ends the children with this process, whatever ends it, so that none holds the ports and the store any longer. */
export function stopAtExit(children: readonly Child[]): void {
  process.once('exit', () => {
    for (const child of children.filter(isRunning)) child.process.kill('SIGTERM');
  });
}
