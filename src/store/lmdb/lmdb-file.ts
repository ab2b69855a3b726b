import {
  chmodSync,
  closeSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CorruptRecord } from '../encoding/sealed.ts';

/** The data file in the directory of an LMDB environment. */
export const DATA_FILE = 'data.mdb';

export const READERS_FILE = 'lock.mdb';
const FOR_OWNER_ONLY = 0o600;

/** Offsets in a meta page of LMDB: the magic number, the page size and the number of the last page. */
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const MAGIC = 0xbeefc0de;
const META_BYTES = LAST_PAGE_AT + 8;
const META_PAGES = 2;

/** Whether there is a store in the directory. */
export const hasData = (directory: string): boolean =>
  (statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Makes the files accessible to their owner only; LMDB creates them with the default mode. @throws Error when another user owns them */
export function restrictToOwner(directory: string): void {
  for (const file of [DATA_FILE, READERS_FILE]) chmodSync(join(directory, file), FOR_OWNER_ONLY);
}

/** The table of readers is not a regular file. It holds no data, so that the store itself may be intact. */
export class InvalidReadersFile extends CorruptRecord {
  constructor(path: string) {
    super(`${path} is not a file; stop the backend and remove it, LMDB creates a new one`);
  }
}

/** LMDB ends the process when it cannot open its table of readers. @throws InvalidReadersFile */
export function assertReadersFile(directory: string): void {
  const path = join(directory, READERS_FILE);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new InvalidReadersFile(path);
}

/** The disk has no room for the table of readers, without which LMDB cannot even read. */
export class NoSpaceForReaders extends Error {
  readonly code = 'no-space';

  constructor(path: string) {
    super(`the disk has no space for ${path}, which every program that opens the store needs; free 1 MiB of it`);
  }
}

const NO_SPACE: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** LMDB uses the first page of its table of readers at once. */
const READERS_BYTES = 4_096;

/**
 * Gives the table of readers its first page on the disk. LMDB maps the table into memory, so that a disk without space would end the
 * process with SIGBUS. The table of a process that ended like that has its length, and no page.
 *
 * @throws NoSpaceForReaders
 */
export function reserveReadersFile(directory: string): void {
  const path = join(directory, READERS_FILE);
  const present = statSync(path, { throwIfNoEntry: false });
  if (present !== undefined) {
    const { bfree, bsize } = statfsSync(directory);
    if (present.size > 0 && present.blocks === 0 && bfree * bsize < READERS_BYTES) throw new NoSpaceForReaders(path);
    return;
  }
  const reserved = `${path}.${process.pid}`;
  try {
    writeFileSync(reserved, Buffer.alloc(READERS_BYTES), { mode: FOR_OWNER_ONLY });
    // Unlike a rename, this never replaces the table of another process.
    linkSync(reserved, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (NO_SPACE.includes(code)) throw new NoSpaceForReaders(path);
    // Another process was first, or LMDB reports why nothing can be written here.
    if (code === undefined) throw error;
  } finally {
    rmSync(reserved, { force: true });
  }
}

/**
 * Checks the data file before the environment is opened. LMDB maps the file into memory: if the file is not a database, or is too
 * short, reading it ends the process without a message. A file that is too short is extended with zeros, so that reading the missing part
 * is an error instead.
 *
 * @throws CorruptRecord
 */
export function prepareDataFile(directory: string): void {
  const { bytes, expectedBytes } = sizesOf(directory);
  if (bytes < expectedBytes) truncateSync(join(directory, DATA_FILE), expectedBytes);
}

/**
 * Reports whether the data file has all pages that its header names, or does not exist. The last pages of an intact file can be
 * missing if they are free.
 *
 * @throws CorruptRecord when the file is not a database
 */
export function hasAllPages(directory: string): boolean {
  const { bytes, expectedBytes } = sizesOf(directory);
  return bytes >= expectedBytes;
}

/** Reads the header before the size, because the file of a running backend grows. */
function sizesOf(directory: string): { bytes: number; expectedBytes: number } {
  if (!hasData(directory)) return { bytes: 0, expectedBytes: 0 };
  const path = join(directory, DATA_FILE);
  const expectedBytes = expectedSize(path);
  return { bytes: statSync(path).size, expectedBytes };
}

/** The size of the file by the newer of its two meta pages. */
function expectedSize(path: string): number {
  const file = openSync(path, 'r');
  try {
    const first = metaAt(file, 0);
    if (first.readUInt32LE(MAGIC_AT) !== MAGIC) throw new CorruptRecord(`${path} is not a database`);
    const pageSize = first.readUInt32LE(PAGE_SIZE_AT);
    let pages = META_PAGES;
    for (const meta of [first, metaAt(file, pageSize)]) {
      if (meta.readUInt32LE(MAGIC_AT) !== MAGIC) continue;
      pages = Math.max(pages, Number(meta.readBigUInt64LE(LAST_PAGE_AT)) + 1);
    }
    return pages * pageSize;
  } finally {
    closeSync(file);
  }
}

/** Reads a meta page; bytes beyond the end of the file are zero. */
function metaAt(file: number, at: number): Buffer {
  const meta = Buffer.alloc(META_BYTES);
  readSync(file, meta, 0, META_BYTES, at);
  return meta;
}
