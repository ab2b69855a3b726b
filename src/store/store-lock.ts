import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another living process owns the store. */
export class StoreInUse extends Error {
  readonly pid: number;

  constructor(pid: number) {
    super(`store is in use by process ${pid}`);
    this.pid = pid;
  }
}

interface Owner {
  pid: number;
  /** Tells a process from a later one with the same number; empty where the system does not say. */
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
 * Owns a store directory until `release`; the directory is made if it does not exist. A lock whose process is gone is
 * taken over. @throws StoreInUse
 */
export function lockStore(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // One that was there, or was copied, may be open to others.
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

/** A link is made whole or not at all, and only once. */
function tryLink(mine: string, path: string): boolean {
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Without taking it, for those to whom loading a whole program only to be refused would take too long. @throws StoreInUse */
export function assertNotInUse(directory: string): void {
  const owner = readOwner(join(directory, LOCK_FILE));
  if (owner !== undefined && isAlive(owner)) throw new StoreInUse(owner.pid);
}

/** Moves a dead process's lock aside; if somebody else locked meanwhile, puts theirs back. */
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
