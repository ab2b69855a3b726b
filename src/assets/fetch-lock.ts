import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import { makeDirectory } from '../ports/make-directory.ts';

/** How often the owner of a lock changes the time of its directory. */
const HEARTBEAT_MS = 1_000;
/** The owner of a lock whose time has not changed for this long counts as dead. */
const DEAD_AFTER_MS = 10_000;
const POLL_MS = 200;

export interface LockOptions {
  /** The directory that is the lock; it contains what its owner works on. */
  path: string;
  clock: Clock;
  signal: AbortSignal;
  /** Ends the wait without the lock. */
  isDone: () => Promise<boolean>;
}

export interface HeldLock {
  /** An empty directory, which no other process uses. */
  workDirectory: string;
  /** Removes the lock with the work directory. */
  release(): Promise<void>;
}

/**
 * Waits for a lock that other processes may hold, and takes over that of a process that has ended or hangs. Only the
 * progress of the lock's time counts, not the time itself, so that the clocks of machines may differ. A process that
 * was only stopped does no harm when it continues: its work directory is gone. Resolves to undefined when `isDone`
 * holds first.
 */
export async function acquireLock({ path, clock, signal, isDone }: LockOptions): Promise<HeldLock | undefined> {
  let seen: { mark: string; sinceMs: number } | undefined;
  for (;;) {
    signal.throwIfAborted();
    if (await isDone()) return undefined;
    if (await made(path)) return await hold(path, clock);
    const mark = await markOf(path);
    if (mark === undefined) continue;
    if (seen?.mark !== mark) seen = { mark, sinceMs: clock.monotonicMs() };
    else if (clock.monotonicMs() - seen.sinceMs >= DEAD_AFTER_MS) await removeDead(path, mark);
    await pause(clock, signal);
  }
}

async function made(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Distinguishes a lock and its heartbeats; undefined when there is no lock. */
async function markOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${mtimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes a lock that still has the mark. Another process may do the same, or may have taken the lock over. */
async function removeDead(path: string, mark: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    if ((await markOf(path)) !== mark) return;
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}

async function hold(path: string, clock: Clock): Promise<HeldLock> {
  const workDirectory = join(path, randomUUID());
  // A process that releases a lock that it has lost may remove an empty one.
  makeDirectory(workDirectory, 0o700);
  let cancel = (): void => undefined;
  const beat = (): void => {
    const now = new Date(clock.nowMs());
    // A lock that was taken over, or a disk that fails: the work fails too, and reports it.
    void utimes(path, now, now).catch(() => undefined);
    cancel = clock.after(HEARTBEAT_MS, beat);
  };
  cancel = clock.after(HEARTBEAT_MS, beat);
  return {
    workDirectory,
    async release() {
      cancel();
      await rm(workDirectory, { recursive: true, force: true });
      await rmdirIfEmpty(path);
    },
  };
}

/** Another process may own the directory by now, or have removed it. */
async function rmdirIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** @throws the reason of the signal */
function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.after(POLL_MS, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
