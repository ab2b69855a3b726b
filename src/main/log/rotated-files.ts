import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { LogFileConfig } from '../../config/flags/log-file-flags.ts';

const NANOSECONDS_PER_MS = 1_000_000n;
const ZIPPED = '.gz';
/** A compressed file gets its final name when it is complete. */
const PARTIAL = `${ZIPPED}.part`;

interface RotatedFile {
  /** The path without the endings of compression. */
  path: string;
  /** When the file was rotated, Unix nanoseconds. */
  at: bigint;
  /** The files of this name that exist. */
  endings: Set<string>;
}

/** The files that a log file was renamed to: `<file>.<unix nanoseconds>`, compressed to `.gz`. */
export class RotatedFiles {
  readonly #file: string;
  readonly #limits: Pick<LogFileConfig, 'retentionMs' | 'maxRotated'>;

  constructor(file: string, limits: Pick<LogFileConfig, 'retentionMs' | 'maxRotated'>) {
    this.#file = file;
    this.#limits = limits;
  }

  /** Renames the log file. Returns false if it does not exist, for example because a person has renamed it. */
  async rotate(nowMs: number): Promise<boolean> {
    let at = BigInt(Math.trunc(nowMs)) * NANOSECONDS_PER_MS;
    const taken = new Set((await this.#list()).map((rotated) => rotated.at));
    while (taken.has(at)) at += 1n;
    try {
      await rename(this.#file, `${this.#file}.${at}`);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  /** Compresses what is not compressed yet, also after an earlier process ended in between, and removes what is above the limits. */
  async tidy(nowMs: number): Promise<void> {
    const { retentionMs, maxRotated } = this.#limits;
    const oldest = retentionMs === 0 ? 0n : BigInt(Math.trunc(nowMs - retentionMs)) * NANOSECONDS_PER_MS;
    const newestFirst = (await this.#list()).toSorted((a, b) => (a.at < b.at ? 1 : -1));
    for (const [index, rotated] of newestFirst.entries()) {
      const isTooMany = maxRotated > 0 && index >= maxRotated;
      if (isTooMany || rotated.at < oldest) await removeAll(rotated);
      else if (rotated.endings.has('')) await compress(rotated.path);
    }
  }

  async #list(): Promise<RotatedFile[]> {
    const directory = dirname(this.#file);
    const prefix = `${basename(this.#file)}.`;
    const files = new Map<string, RotatedFile>();
    for (const name of await readdir(directory)) {
      const [, digits, ending = ''] = /^(\d{13,20})(\.gz|\.gz\.part)?$/.exec(name.slice(prefix.length)) ?? [];
      if (!name.startsWith(prefix) || digits === undefined) continue;
      const rotated = files.get(digits) ?? {
        path: join(directory, prefix + digits),
        at: BigInt(digits),
        endings: new Set<string>(),
      };
      rotated.endings.add(ending);
      files.set(digits, rotated);
    }
    return [...files.values()];
  }
}

async function removeAll({ path, endings }: RotatedFile): Promise<void> {
  for (const ending of endings) await unlink(path + ending);
}

async function compress(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(path + PARTIAL, { mode: 0o640 }));
  await rename(path + PARTIAL, path + ZIPPED);
  await unlink(path);
}
