import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../config/flags.ts';

const PRIVATE = 0o700;

/**
 * Creates the directory that a flag names, and `inside` in it, unless they exist. It must be writable.
 * @throws ConfigError that names the flag, the directory and the cause
 */
export function ensureDirectory(flag: string, path: string, inside = ''): void {
  try {
    const directory = join(path, inside);
    makeDirectory(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(flag, path, error);
  }
}

/** Creates missing parents too. `recursive` of Node.js 20 never returns below a directory in which nothing can be created, such as /proc. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isDirectory(path)) return;
    if (code !== 'ENOENT' || isDirectory(dirname(path)) || dirname(path) === path) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: PRIVATE });
  }
}

/** Whether the path leads to a directory, also by a symbolic link. */
const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** @throws ConfigError when the path that a flag names exists and is no directory, or cannot be read */
export function assertDirectoryIfAny(flag: string, path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  } catch (error) {
    throw unusable(flag, path, error);
  }
  throw new ConfigError([{ flag, rule: `${flag}: ${path} is not a directory` }]);
}

const unusable = (flag: string, path: string, error: unknown): unknown =>
  error instanceof Error && 'code' in error
    ? new ConfigError([{ flag, rule: `${flag}: cannot use the directory ${path}: ${error.message}` }])
    : error;
