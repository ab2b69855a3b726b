import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE, READERS_FILE } from './lmdb/lmdb-file.ts';

/** There is no store where the operator said. */
export class NoStore extends Error {
  readonly code = 'no-store';

  constructor(directory: string) {
    super(`there is no store in ${directory}; --state-dir names the state directory of the backend`);
  }
}

/** A part of the path of a store is a file. */
export class NotADirectory extends Error {
  readonly code = 'not-a-directory';

  constructor(directory: string) {
    super(`a part of the path ${directory} is a file; set --state-dir to the state directory of the backend`);
  }
}

/** The system denies this user access to the store. */
export class StoreDenied extends Error {
  readonly code = 'store-denied';

  constructor(what: 'read' | 'use', path: string, cause: unknown) {
    super(
      `cannot ${what} ${path}: permission denied; run this command as the owner of the state directory (--state-dir)`,
      { cause },
    );
  }
}

const DENIALS: readonly unknown[] = ['EACCES', 'EPERM'];

export const isDenial = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && DENIALS.includes((error as NodeJS.ErrnoException).code);

/** The second is that of creating a directory in the place of a file. */
const FILES_IN_PATHS: readonly unknown[] = ['ENOTDIR', 'EEXIST'];

export const isNotADirectory = (error: unknown): boolean =>
  error instanceof Error && FILES_IN_PATHS.includes((error as NodeJS.ErrnoException).code);

/**
 * Asserts that this user may read the store in a directory, if there is one. LMDB writes its table of readers too.
 *
 * @throws StoreDenied, NotADirectory
 */
export function assertReadable(directory: string): void {
  const { R_OK, W_OK } = constants;
  for (const [file, mode] of [
    [DATA_FILE, R_OK],
    [READERS_FILE, R_OK | W_OK],
  ] as const) {
    const path = join(directory, file);
    try {
      if (statSync(path, { throwIfNoEntry: false }) !== undefined) accessSync(path, mode);
    } catch (error) {
      if (isDenial(error)) throw new StoreDenied('read', path, error);
      if (isNotADirectory(error)) throw new NotADirectory(directory);
      throw error;
    }
  }
}
