import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DIRECTORY_MODE, FILE_MODE, flush } from './durable-files.ts';

/** Files in the directory. */
const MAX_FILES = 1_000;

/** A file cannot be written. */
export class QuarantineUnusable extends Error {}

/** The directory has as many files as it may have. */
export class QuarantineFull extends QuarantineUnusable {}

/** The directory for the bytes of damaged records, one file for each. */
export class QuarantineDirectory {
  readonly #path: string;
  /** The number of files; undefined before the first is written. */
  #files: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes a file, which replaces one of the same name. Returns its path when it is durable. @throws QuarantineUnusable, QuarantineFull */
  async write(name: string, bytes: Buffer): Promise<string> {
    const path = join(this.#path, name);
    try {
      await this.#count();
      const file = await open(path, 'w', FILE_MODE);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      flush(this.#path);
      return path;
    } catch (error) {
      if (error instanceof QuarantineFull) throw error;
      throw new QuarantineUnusable(`cannot write ${path}`, { cause: error });
    }
  }

  /** Creates the directory, and counts a new file in it. */
  async #count(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: DIRECTORY_MODE });
    this.#files ??= (await readdir(this.#path)).length;
    if (this.#files >= MAX_FILES) {
      throw new QuarantineFull(`${this.#path} has ${this.#files} files, so that damaged records stay in the store`);
    }
    this.#files += 1;
  }
}
