import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname, platform as thisPlatform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeDirectory } from '../../ports/make-directory.ts';

/** The file in the directory of a store that its owner has locked. */
export const LOCK_FILE = 'lock';
/** The record of the owner has a fixed size, so that a full disk has room for the next one. */
const RECORD_BYTES = 256;

/**
 * Programs that lock the open file that they inherit as descriptor 3, and exit with 1 when another process has locked it. The lock
 * belongs to the open file, which this process keeps after the program has ended. The second one is for systems without the first.
 */
const LOCK_PROGRAMS: readonly (readonly [string, ...string[]])[] = [
  ['flock', '-n', '3'],
  [
    'perl',
    '-e',
    'use Fcntl ":flock"; open my $f, "+<&=", 3 or die; flock $f, LOCK_EX | LOCK_NB or $!{EWOULDBLOCK} ? exit 1 : die $!;',
  ],
];
const REFUSED = 1;
/** Attempts to open the lock file while other processes remove its directory. */
const MAX_ATTEMPTS = 10;

/** A flag of libuv for Windows, where nobody else can open the file while it is open. The system closes it with the process. */
const EXCLUSIVE_SHARING = 0x10000000;
/** The error of opening such a file. */
const NOT_SHARED = 'EBUSY';

/** The system whose files are locked: this one, except in tests. */
interface LockingSystem {
  readonly platform?: NodeJS.Platform;
  readonly open?: typeof openSync;
}

interface Owner {
  pid: number;
  /** The start time distinguishes a process from a later one with the same number. Empty where the system does not provide it. */
  startedAt: string;
  /** The name of the machine or the container. Earlier versions do not write it. */
  host?: string;
}

/** Another running process owns the store. */
export class StoreInUse extends Error {
  readonly code = 'store-in-use';

  /** `owner` is undefined when it is not known. `place` is the setting that names the directory, with its value. */
  constructor(owner: Owner | undefined, place?: string) {
    super(`store is in use by ${describe(owner)}${place === undefined ? '' : ` (${place})`}`);
  }
}

function describe(owner: Owner | undefined): string {
  if (owner === undefined) return 'another process';
  const { pid, host = hostname() } = owner;
  return host === hostname() ? `process ${pid}` : `process ${pid} of host ${host}`;
}

/** The lock of a store, which this process holds. One of the two functions ends it. */
export interface StoreLock {
  /** The lock file stays. */
  release(): void;
  /**
   * Also removes the lock file and its directories, if they did not exist before the lock was taken and have no other files. A process
   * that has opened the lock file meanwhile finds that it was unlinked, and opens a new one.
   */
  releaseAndRemove(): void;
}

/**
 * Locks a store directory, and creates the directory if it does not exist. The system releases the lock when this process
 * ends, however it ends. Processes of other containers are excluded too when they share the file system. `place` is the setting
 * that names the directory, with its value, for the error.
 *
 * @throws StoreInUse
 * @throws Error when the machine has no program that locks files, or the file system has no locks
 */
export function lockStore(
  directory: string,
  place?: string,
  { platform = thisPlatform(), open = openSync }: LockingSystem = {},
): StoreLock {
  const path = join(directory, LOCK_FILE);
  let created: readonly string[] = [];
  for (;;) {
    const missing = missingPaths(path);
    if (missing.length > created.length) created = missing;
    const file = openInDirectory(path, platform, open);
    if (file === undefined) throw new StoreInUse(ownerOf(directory), place);
    try {
      if (platform !== 'win32' && !tryLock(file)) throw new StoreInUse(ownerOf(directory), place);
      assertNoEarlierOwner(path, place);
      if (isAt(path, file)) {
        recordOwner(file);
        return {
          release: () => closeSync(file),
          releaseAndRemove() {
            if (isAt(path, file)) remove(created);
            closeSync(file);
          },
        };
      }
    } catch (error) {
      closeSync(file);
      throw error;
    }
    // Another process replaced the file before this one locked it.
    closeSync(file);
  }
}

/** A path and the directories above it, as far as they do not exist, the path first. */
function missingPaths(path: string): string[] {
  const full = resolve(path);
  return existsSync(full) ? [] : [full, ...missingPaths(dirname(full))];
}

/** Removes the lock file, which this process has locked, and directories that are empty then. */
function remove([file, ...directories]: readonly string[]): void {
  if (file === undefined) return;
  try {
    rmSync(file);
    for (const directory of directories) rmdirSync(directory);
  } catch (error) {
    // What cannot be removed stays: the directory has other files, or the system refuses.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** Opens the lock file, after it has created the directory. Returns undefined when another process on Windows has it open. */
function openInDirectory(path: string, platform: NodeJS.Platform, open: typeof openSync): number | undefined {
  const directory = dirname(path);
  for (let attempt = 1; ; attempt += 1) {
    try {
      makeDirectory(directory, 0o700);
      // A directory that existed before may be accessible to others.
      chmodSync(directory, 0o700);
      return openAlone(path, platform, open);
    } catch (error) {
      // Another process has removed its lock file meanwhile, and the directory with it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Opens the lock file. Returns undefined when another process on Windows has it open. */
function openAlone(path: string, platform: NodeJS.Platform, open: typeof openSync): number | undefined {
  const flags = constants.O_RDWR | constants.O_CREAT;
  if (platform !== 'win32') return open(path, flags, 0o600);
  try {
    return open(path, flags | EXCLUSIVE_SHARING, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === NOT_SHARED) return undefined;
    throw error;
  }
}

/** Returns the process that locked the store last; undefined when it is not known. */
export const ownerOf = (directory: string): Owner | undefined => readOwner(join(directory, LOCK_FILE));

function tryLock(file: number): boolean {
  const { PATH } = process.env;
  for (const [program, ...args] of LOCK_PROGRAMS) {
    const { status, signal, stderr, ...run } = spawnSync(program, args, {
      env: PATH === undefined ? {} : { PATH },
      stdio: ['ignore', 'ignore', 'pipe', file],
      encoding: 'utf8',
    });
    const error: NodeJS.ErrnoException | undefined = run.error;
    if (error?.code === 'ENOENT') continue;
    if (error !== undefined) throw new Error(`could not lock the store with ${program}`, { cause: error });
    if (status === 0) return true;
    if (status === REFUSED) return false;
    throw new Error(`could not lock the store with ${program} (${signal ?? status}): ${stderr.trim()}`);
  }
  const names = LOCK_PROGRAMS.map(([program]) => program).join(' and ');
  throw new Error(`could not lock the store: ${names} are not in PATH; install one of them`);
}

/** Earlier versions do not lock the file: it exists as long as they run. @throws StoreInUse */
function assertNoEarlierOwner(path: string, place: string | undefined): void {
  const owner = readOwner(path);
  if (owner !== undefined && owner.host === undefined && isAlive(owner)) throw new StoreInUse(owner, place);
}

function isAlive({ pid, startedAt }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startedAt === '' || startOf(pid) === startedAt;
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return '';
  }
}

function readOwner(path: string): Owner | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? undefined : (JSON.parse(text) as Owner);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === NOT_SHARED || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAt(path: string, file: number): boolean {
  const [locked, current] = [fstatSync(file), statSync(path, { throwIfNoEntry: false })];
  return current !== undefined && current.ino === locked.ino && current.dev === locked.dev;
}

/** Writes which process owns the store. Earlier versions respect the record while this process runs. */
function recordOwner(file: number): void {
  const owner: Owner = { pid: process.pid, startedAt: startOf(process.pid), host: hostname() };
  try {
    writeSync(file, JSON.stringify(owner).padEnd(RECORD_BYTES), 0);
  } catch (error) {
    // The lock holds without the record, which only names the owner in messages. A full disk must not prevent a start.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
