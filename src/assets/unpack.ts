import { type FileHandle, link, mkdir, open, statfs, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type ArchivePart, readArchive } from './archive-entries.ts';
import { ArchivePlan, type ArchiveStep, MAX_UNPACKED_BYTES } from './archive-plan.ts';
import { causeText, FetchFailed } from './asset-failed.ts';

/** The part of the file system of the cache that stays free, and never more than these bytes. */
const FREE_PART = 0.05;
const MAX_FREE_BYTES = 256 * 1024 * 1024;
/** The free space is read again after these bytes. */
const BYTES_BETWEEN_READINGS = 16 * 1024 * 1024;
/** Links are followed for this time before others get the event loop. */
const SLICE_MS = 10;
const DIRECTORY_MODE = 0o755;

/**
 * Unpacks a tar archive, compressed with gzip or not, into an empty directory. The archive is read twice: nothing is written before all
 * of it has been checked. Nothing is ever written outside the directory. What is unpacked survives a power cut when this resolves.
 * @throws FetchFailed with the error text of the reference
 */
export async function unpack(file: string, directory: string, signal: AbortSignal): Promise<void> {
  const reading = { maxBytes: MAX_UNPACKED_BYTES, signal };
  const writer = new ArchiveWriter(directory);
  try {
    await checkArchive(file, reading);
    await readArchive(file, reading, (parts) => writer.write(parts));
    await writer.sync(signal);
  } catch (error) {
    if (error instanceof FetchFailed) throw error;
    throw new FetchFailed(`error extracting asset: ${causeText(signal.reason ?? error)}`, { cause: error });
  } finally {
    await writer.close();
  }
}

/** @throws InvalidArchive, or the error of a damaged archive */
async function checkArchive(file: string, reading: { maxBytes: number; signal: AbortSignal }): Promise<void> {
  const plan = new ArchivePlan();
  await readArchive(file, reading, (parts) => {
    for (const part of parts) if (part.type === 'entry') plan.add(part.entry);
    return Promise.resolve();
  });
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const _ of plan.followLinks()) {
    if (performance.now() < sliceEndMs) continue;
    reading.signal.throwIfAborted();
    await nextTick();
    sliceEndMs = performance.now() + SLICE_MS;
  }
}

/** Writes a checked archive below a directory. */
class ArchiveWriter {
  readonly #directory: string;
  readonly #plan = new ArchivePlan();
  #file: FileHandle | undefined;
  #unreadBytes = BYTES_BETWEEN_READINGS;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async write(parts: readonly ArchivePart[]): Promise<void> {
    for (const part of parts) {
      if (part.type === 'entry') await this.#make(this.#plan.add(part.entry));
      else if (part.type === 'content') await this.#append(part.bytes);
      else await this.close();
    }
  }

  /** Closes the current file. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** Writes the files to the disk. */
  async sync(signal: AbortSignal): Promise<void> {
    for (const path of this.#plan.files()) {
      signal.throwIfAborted();
      const file = await open(this.#at(path), 'r+');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }

  /** Fails for a path that exists: on a file system that ignores case, another entry made it. */
  async #make(step: ArchiveStep): Promise<void> {
    for (const path of step.directories) await mkdir(this.#at(path), DIRECTORY_MODE);
    if (step.type === 'file') this.#file = await open(this.#at(step.path), 'wx', step.mode);
    else if (step.type === 'symbolic-link') await symlink(step.target, this.#at(step.path));
    else if (step.type === 'hard-link') await link(this.#at(step.target), this.#at(step.path));
  }

  async #append(bytes: Buffer): Promise<void> {
    if (this.#file === undefined) return;
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes >= BYTES_BETWEEN_READINGS) await this.#assertRoom();
    await this.#file.writeFile(bytes);
  }

  async #assertRoom(): Promise<void> {
    this.#unreadBytes = 0;
    const { bavail, blocks, bsize } = await statfs(this.#directory);
    const keptBytes = Math.min(MAX_FREE_BYTES, blocks * bsize * FREE_PART);
    if (bavail * bsize < keptBytes) throw new Error('the disk of --cache-dir is almost full');
  }

  #at(path: string): string {
    return join(this.#directory, path);
  }
}
