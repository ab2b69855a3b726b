import { chmodSync, closeSync, existsSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { CorruptRecord } from './sealed.ts';

/** Under the directory of every LMDB environment. */
export const DATA_FILE = 'data.mdb';

const READERS_FILE = 'lock.mdb';
const FOR_OWNER_ONLY = 0o600;

/** Where the first pages of LMDB say what they are, how large a page is, and which one is the last. */
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const MAGIC = 0xbeefc0de;
const META_BYTES = LAST_PAGE_AT + 8;
const META_PAGES = 2;

/** LMDB makes its files as the process makes any. @throws Error when they are somebody else's */
export function keepForOwner(directory: string): void {
  for (const file of [DATA_FILE, READERS_FILE]) chmodSync(join(directory, file), FOR_OWNER_ONLY);
}

/**
 * LMDB maps its file into memory: where that is something else, or was cut short, reading ends the whole process without a word.
 * A file that is too short is filled up with zeros, so that reading what is gone is an error instead. To be called before the
 * environment is opened. @throws CorruptRecord
 */
export function prepareDataFile(directory: string): void {
  const path = join(directory, DATA_FILE);
  if (!existsSync(path)) return;
  const { size } = statSync(path);
  if (size === 0) return;
  const wholeBytes = wholeSize(path);
  if (size < wholeBytes) truncateSync(path, wholeBytes);
}

/** As large as the newer of both meta pages says. */
function wholeSize(path: string): number {
  const file = openSync(path, 'r');
  try {
    const first = metaAt(file, 0);
    if (first.readUInt32LE(MAGIC_AT) !== MAGIC) throw new CorruptRecord(`${path} is no database`);
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

/** Zeros where the file ends before. */
function metaAt(file: number, at: number): Buffer {
  const meta = Buffer.alloc(META_BYTES);
  readSync(file, meta, 0, META_BYTES, at);
  return meta;
}
