import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../ports/make-directory.ts';
import { DIRECTORY_MODE, FILE_MODE, flush } from './durable-files.ts';

/** Files in the directory. */
const MAX_FILES = 1_000;

/** A file cannot be written. */
export class QuarantineUnusable extends Error {}

/** The directory has no room for the files. */
export class QuarantineFull extends QuarantineUnusable {}

/** The directory for the bytes of damaged records, one file for each. */
export class QuarantineDirectory {
  readonly #path: string;
  /** The names of the files; undefined before the directory is read. */
  #names: Set<string> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the directory, and checks that it has room for all files of these names. @throws QuarantineFull, QuarantineUnusable */
  async assertRoom(names: readonly string[]): Promise<void> {
    const known = await this.#known();
    const added = names.filter((name) => !known.has(name)).length;
    if (known.size + added > MAX_FILES) {
      throw new QuarantineFull(
        `${this.#path} has ${known.size} files, and may have ${MAX_FILES}; move files out of it and restart the backend`,
      );
    }
  }

  /** Writes a file, which replaces one of the same name. Returns its path when it is durable. @throws QuarantineFull, QuarantineUnusable */
  async write(name: string, bytes: Buffer): Promise<string> {
    await this.assertRoom([name]);
    const path = join(this.#path, name);
    try {
      const file = await open(path, 'w', FILE_MODE);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      flush(this.#path);
    } catch (error) {
      throw new QuarantineUnusable(`cannot write ${path}`, { cause: error });
    }
    this.#names?.add(name);
    return path;
  }

  async #known(): Promise<Set<string>> {
    if (this.#names !== undefined) return this.#names;
    try {
      const isNew = !existsSync(this.#path);
      makeDirectory(this.#path, DIRECTORY_MODE);
      if (isNew) flush(dirname(this.#path));
      return (this.#names = new Set(await readdir(this.#path)));
    } catch (error) {
      throw new QuarantineUnusable(`cannot use the directory ${this.#path}`, { cause: error });
    }
  }
}
