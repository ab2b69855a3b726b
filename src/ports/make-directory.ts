import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and those above it, as far as they do not exist, also while another process creates them. `mode` is that of
 * each new one. The option `recursive` of Node.js 20 never returns in a directory that accepts no files, such as /proc.
 *
 * @throws NodeJS.ErrnoException, such as EACCES
 */
export function makeDirectory(path: string, mode: number): void {
  if (isDirectory(path)) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(path)) throw error;
  }
}

/** Whether the path leads to a directory, also by a symbolic link. */
const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
