import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Attempts to create a directory while other processes remove the one above it. */
const MAX_ATTEMPTS = 10;

/**
 * Creates a directory and those above it, as far as they do not exist, also while other processes create or remove them. `mode` is
 * that of each new one. The option `recursive` of Node.js 20 never returns in a directory that accepts no files, such as /proc.
 *
 * @throws NodeJS.ErrnoException, such as EACCES; EEXIST or ENOTDIR when a part of the path is a file
 */
export function makeDirectory(path: string, mode: number): void {
  for (let attempt = 1; ; attempt += 1) {
    if (isDirectory(path)) return;
    if (!existsSync(dirname(path))) makeDirectory(dirname(path), mode);
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isRace = (code === 'EEXIST' && isDirectory(path)) || (code === 'ENOENT' && attempt < MAX_ATTEMPTS);
      if (!isRace) throw error;
    }
  }
}

/** Whether the path leads to a directory, also by a symbolic link. */
const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
