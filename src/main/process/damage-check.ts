import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PACKAGE_ROOT } from './package-root.ts';

/** The exit code of a checking program that has found damage. */
export const EXIT_DAMAGED = 10;
/** The signals that end a process that reads a damaged page, sent by LMDB or the system. */
const CRASHES: readonly unknown[] = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'];
const MAX_REASON_LENGTH = 500;

/**
 * Lets a program of `dist/main` open the files in a directory, in a process of its own, which may crash. Returns a
 * description of the damage; undefined when there is none, or when the files could not be opened for another reason.
 */
export async function damageFoundBy(program: 'queue-check' | 'store-probe', directory: string) {
  const path = join(PACKAGE_ROOT, 'dist/main', `${program}.cjs`);
  const child = spawn(process.execPath, [path, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [reason, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  const isDamaged = code === EXIT_DAMAGED || CRASHES.includes(signal);
  return isDamaged ? reason.trim().slice(0, MAX_REASON_LENGTH) || String(signal) : undefined;
}
