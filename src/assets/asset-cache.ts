import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { makeDirectory } from '../ports/make-directory.ts';
import { acquireLock } from './fetch-lock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An asset that no process has used for this long is removed. */
const UNUSED_MS = 30 * DAY_MS;
/** A use is recorded when the last recorded one is older than this. */
const USE_NOTED_MS = DAY_MS;
/** The age at which files that an ended process left behind are removed. */
const LEFT_BEHIND_MS = DAY_MS;
/** The file whose time is that of the last purge. It has the name of the index of the reference, which has the same place. */
const INDEX = 'assets.db';
const LOCK = '.lock';
const ASSET_NAME = /^[0-9a-f]{128}$/;
const TEMPORARY_NAME = /^[0-9a-f]{128}\.(?:lock(?:\.[0-9a-f-]+)?|purged\.[0-9a-f-]+)$/;

export interface AssetCachePorts {
  clock: Clock;
  log: Log;
}

/**
 * The directory of unpacked assets, which several processes may share. Each asset is a directory named by its checksum,
 * and is complete when it exists. The time of that directory is that of its last recorded use.
 */
export class AssetCache {
  readonly #directory: string;
  readonly #ports: AssetCachePorts;

  constructor(directory: string, ports: AssetCachePorts) {
    this.#directory = resolve(directory);
    this.#ports = ports;
  }

  /** Returns the directory of an asset, and records its use; undefined if it is not installed. */
  async find(sha512: string): Promise<string | undefined> {
    const path = join(this.#directory, sha512);
    const usedAtMs = await directoryTimeMs(path);
    if (usedAtMs === undefined) return undefined;
    const nowMs = this.#ports.clock.nowMs();
    if (Math.abs(nowMs - usedAtMs) < USE_NOTED_MS) return path;
    const now = new Date(nowMs);
    try {
      await utimes(path, now, now);
      return path;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      // Another user owns the cache: the asset can be used, and its owner purges it.
      if (codeOf(error) === 'EPERM' || codeOf(error) === 'EACCES' || codeOf(error) === 'EROFS') return path;
      throw error;
    }
  }

  /**
   * Returns the directory of an asset that this or another process installs. `fill` creates the content in an empty
   * directory and resolves to its path there. One process at a time does this; the others wait.
   */
  async install(
    sha512: string,
    signal: AbortSignal,
    fill: (workDirectory: string) => Promise<string>,
  ): Promise<string> {
    const path = join(this.#directory, sha512);
    makeDirectory(this.#directory, 0o700);
    await createFile(join(this.#directory, INDEX));
    const isDone = async (): Promise<boolean> => (await directoryTimeMs(path)) !== undefined;
    const { clock } = this.#ports;
    const lock = await acquireLock({ path: `${path}${LOCK}`, clock, signal, isDone });
    if (lock === undefined) return path;
    try {
      await publish(await fill(lock.workDirectory), path);
    } finally {
      await lock.release();
    }
    return path;
  }

  /** Removes unused assets and what dead processes have left behind, unless a process did so on the same day. */
  async purge(): Promise<void> {
    if (!(await this.#isPurgeDue())) return;
    for (const name of await readdir(this.#directory)) {
      const limitMs = ASSET_NAME.test(name) ? UNUSED_MS : TEMPORARY_NAME.test(name) ? LEFT_BEHIND_MS : undefined;
      if (limitMs === undefined) continue;
      await this.#purgeOne(name, limitMs).catch((error: unknown) => {
        // Another process was faster.
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    }
  }

  async #isPurgeDue(): Promise<boolean> {
    const index = join(this.#directory, INDEX);
    const nowMs = this.#ports.clock.nowMs();
    try {
      const { mtimeMs } = await stat(index);
      if (Math.abs(nowMs - mtimeMs) < DAY_MS - HOUR_MS) return false;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      if ((await directoryTimeMs(this.#directory)) === undefined) return false;
      await createFile(index);
    }
    const now = new Date(nowMs);
    await utimes(index, now, now);
    return true;
  }

  async #purgeOne(name: string, limitMs: number): Promise<void> {
    const path = join(this.#directory, name);
    const isOld = async (at: string): Promise<boolean> =>
      this.#ports.clock.nowMs() - ((await directoryTimeMs(at)) ?? Infinity) > limitMs;
    if (!(await isOld(path))) return;
    const aside = `${path.slice(0, this.#directory.length + 1 + 128)}.purged.${randomUUID()}`;
    await rename(path, aside);
    // A process may have recorded a use of the asset in the meantime.
    if (ASSET_NAME.test(name) && !(await isOld(aside))) {
      await rename(aside, path);
      return;
    }
    await rm(aside, { recursive: true, force: true });
    if (ASSET_NAME.test(name)) this.#ports.log.info({ sha512: name }, 'removed an asset that was not used for 30 days');
  }
}

/** Creates an empty file unless it exists. */
async function createFile(path: string): Promise<void> {
  await (await open(path, 'a', 0o600)).close();
}

/** Renames the content to its final name in one step. Another process may have been faster. */
async function publish(content: string, path: string): Promise<void> {
  try {
    await rename(content, path);
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** The time of a directory; undefined if there is none. */
async function directoryTimeMs(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? found.mtimeMs : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
