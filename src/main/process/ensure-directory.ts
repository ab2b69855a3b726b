import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config/parsing/flags.ts';
import type { Log } from '../../ports/log.ts';
import { makeDirectory } from '../../ports/make-directory.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';

const PRIVATE = 0o700;
const PUBLIC = 0o755;
const MIB = 2 ** 20;
/** Room for the first pages of a new store. */
const MIN_FREE_BYTES = MIB;

/**
 * Creates the directory that a flag names, and `inside` in it for a store, unless they exist. It must be writable, and have room
 * when it has no store yet.
 * @throws ConfigError that names the flag, the directory and the cause
 */
export function ensureDirectory(flag: string, path: string, inside: string, freeBytes = freeBytesOf): void {
  try {
    const directory = join(path, inside);
    makeDirectory(directory, PRIVATE);
    accessSync(directory, constants.W_OK | constants.X_OK);
    if (!existsSync(join(directory, DATA_FILE))) assertRoom(freeBytes(directory));
  } catch (error) {
    throw unusable(flag, path, error);
  }
}

/** The space that this user may use on the disk of a directory. */
export function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function assertRoom(freeBytes: number): void {
  if (freeBytes >= MIN_FREE_BYTES) return;
  const message = `ENOSPC: a new store needs ${MIN_FREE_BYTES / MIB} MiB, and the disk has ${Math.floor(freeBytes / MIB)} MiB`;
  throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/**
 * Creates the directory of a cache, which other users may read. A failure is logged: the program works without a cache.
 * @throws ConfigError when the path that the flag names exists and is not a directory, or cannot be read
 */
export function prepareCache(flag: string, path: string, log: Log): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new ConfigError([{ flag, rule: `${flag}: ${path} is not a directory` }]);
    }
  } catch (error) {
    throw unusable(flag, path, error);
  }
  try {
    makeDirectory(path, PUBLIC);
  } catch (err) {
    log.warn({ err, flag, path }, 'cache directory cannot be created, no asset can be installed');
  }
}

const unusable = (flag: string, path: string, error: unknown): unknown =>
  error instanceof Error && 'code' in error
    ? new ConfigError([{ flag, rule: `${flag}: cannot use the directory ${path}: ${error.message}` }])
    : error;
