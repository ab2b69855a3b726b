import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another running process owns the store. */
export class StoreInUse extends Error {
  readonly code = 'store-in-use';
  readonly pid: number;

  constructor(pid: number) {
    super(`store is in use by process ${pid}`);
    this.pid = pid;
  }
}

interface Owner {
  pid: number;
  /** The start time distinguishes a process from a later one with the same number. Empty where the system does not provide it. */
  startedAt: string;
}

const LOCK_FILE = 'lock';

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return '';
  }
}

function isAlive({ pid, startedAt }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startedAt === '' || startOf(pid) === startedAt;
}

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Locks a store directory until `release`, and creates the directory if it does not exist. A lock whose process has ended is
 * taken over.
 *
 * @throws StoreInUse
 */
export function lockStore(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A directory that existed before may be accessible to others.
  chmodSync(directory, 0o700);
  const path = join(directory, LOCK_FILE);
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) }), { mode: 0o600 });
  try {
    while (!tryLink(mine, path)) removeStale(directory);
  } finally {
    rmSync(mine, { force: true });
  }
  return {
    release: () => {
      rmSync(path, { force: true });
    },
  };
}

/** Creating a link is atomic, and fails when the path exists. */
function tryLink(mine: string, path: string): boolean {
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Checks the lock without taking it, so that a second backend is refused before it loads the whole program. @throws StoreInUse */
export function assertNotInUse(directory: string): void {
  const owner = readOwner(join(directory, LOCK_FILE));
  if (owner !== undefined && isAlive(owner)) throw new StoreInUse(owner.pid);
}

/** Removes the lock of a process that has ended. If another process took the lock meanwhile, its lock is put back. */
function removeStale(directory: string): void {
  assertNotInUse(directory);
  const path = join(directory, LOCK_FILE);
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readOwner(aside);
  if (moved !== undefined && isAlive(moved)) tryLink(aside, path);
  rmSync(aside, { force: true });
}
