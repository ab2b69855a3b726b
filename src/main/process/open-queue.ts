import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../ports/log.ts';
import { DiskQueue } from '../../store/disk-queue.ts';
import { DATA_FILE } from '../../store/lmdb-file.ts';
import { systemClock } from './system-clock.ts';

/** The exit code of the checking program for a damaged queue. */
export const EXIT_DAMAGED = 10;
/** The signals with which LMDB and the system end a process that reads a damaged page. */
const CRASHES: readonly unknown[] = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'];
const CHECK_PROGRAM = fileURLToPath(new URL('../queue-check.js', import.meta.url));

const MAX_REASON_LENGTH = 500;

/** The time that another agent with the same cache directory has to end. */
const QUEUE_WAIT_MS = 60_000;

/**
 * Opens the queue of an agent. A damaged one is moved aside to `<directory>.damaged`, in place of an earlier one there, and a new
 * one is created.
 *
 * @throws StoreInUse, or the system's error
 */
export async function openQueue(directory: string, log: Log): Promise<DiskQueue> {
  const damage = await damageOf(directory);
  if (damage !== undefined) {
    const aside = `${directory}.damaged`;
    rmSync(aside, { recursive: true, force: true });
    renameSync(directory, aside);
    log.error({ path: aside, reason: damage }, 'event queue is damaged and was moved aside, its events are not sent');
  }
  return DiskQueue.open(directory, systemClock, QUEUE_WAIT_MS);
}

/** Checks the queue in a process of its own, which may crash. Returns what is damaged; undefined when the queue is intact or could not be checked. */
async function damageOf(directory: string): Promise<string | undefined> {
  if ((statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
  const child = spawn(process.execPath, [CHECK_PROGRAM, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [reason, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  const isDamaged = code === EXIT_DAMAGED || CRASHES.includes(signal);
  return isDamaged ? reason.trim().slice(0, MAX_REASON_LENGTH) || String(signal) : undefined;
}
