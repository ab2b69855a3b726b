import { readSync } from 'node:fs';

/**
 * The layout of an LMDB file of 64-bit little-endian machines, as the package `lmdb` writes it. A page begins with its own number
 * (8 bytes), the number of the transaction (8), 2 bytes that are not used here, its flags (2), and the bounds of its free space (4).
 */
const PAGE_HEADER_BYTES = 24;
const WRITTEN_BY_AT = 8;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
const BRANCH = 0x01;
const LEAF = 0x02;
const VALUE = 0x04;
const META = 0x08;
/** The flags of all kinds of pages, including those that are not used here. */
const KIND_FLAGS = 0xff;

/** The header of the file, in each of the first two pages. */
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const VERSION_AT = 28;
const VERSION = 2;
const MAP_BYTES_AT = 40;
const FREE_PAGES_AT = 48;
/**
 * The flags of the file. They include those of the tree of free pages, whose keys are numbers, and one for encrypted pages. The other
 * flags are settings of the program that created the file, and are not checked.
 */
const FILE_FLAGS_AT = 52;
const CHECKED_FLAGS = 0x203f;
const EXPECTED_FLAGS = 0x0008;
const TABLES_AT = 96;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const META_BYTES = 160;

/** A tree: the page size (4), flags (2), depth (2), three counts of pages and one of entries (32), the page of its root (8). */
const DEPTH_AT = 6;
const ROOT_AT = 40;
const TREE_BYTES = 48;

/** An entry of a page: the size of its value or the number of a page (4), flags (2), the length of its key (2), key, value. */
const ENTRY_HEADER_BYTES = 8;
const ENTRY_FLAGS_AT = 4;
const KEY_LENGTH_AT = 6;
const VALUE_HAS_PAGES = 0x01;
const IS_TABLE = 0x02;
/** A value with pages of its own: its first page (8), a number of a transaction (8), the count of its pages (8). */
const VALUE_ADDRESS_BYTES = 24;
const VALUE_WRITTEN_BY_AT = 8;
const VALUE_PAGES_AT = 16;

/** All bits set: a tree without entries. */
export const NO_PAGE = 0xffff_ffff_ffff;

const MIN_PAGE_SIZE = 512;
const MAX_PAGE_SIZE = 65_536;

export interface Tree {
  root: number;
  /** Levels, with that of the leaves. */
  depth: number;
}

interface Meta {
  pageSize: number;
  lastPage: number;
  /** The number of the last transaction. */
  transaction: bigint;
  freePages: Tree;
  /** The tree whose entries are the tables. */
  tables: Tree;
}

/** The target of an entry of a page. */
export type Child =
  | { kind: 'page'; page: number }
  | { kind: 'value'; page: number; pages: number; bytes: number }
  | { kind: 'list'; list: Buffer }
  | { kind: 'table'; name: string; tree: Tree };

/** The number of a page in an entry, which has 48 bits. */
const shortNumberAt = (bytes: Buffer, at: number): number => bytes.readUIntLE(at, 6);

/** The number of a page in 64 bits. One that no file can have is infinite. */
function pageNumberAt(bytes: Buffer, at: number): number {
  const number = shortNumberAt(bytes, at);
  const rest = bytes.readUInt16LE(at + 6);
  return rest === 0 || (rest === 0xffff && number === NO_PAGE) ? number : Infinity;
}

const treeAt = (bytes: Buffer, at: number): Tree => ({
  root: pageNumberAt(bytes, at + ROOT_AT),
  depth: bytes.readUInt16LE(at + DEPTH_AT),
});

/** Returns the newest header of the file, or what is wrong with it. */
export function readMeta(file: number): Meta | string {
  const first = metaAt(file, 0);
  if (typeof first === 'string') return first;
  const { pageSize } = first;
  const isPossible = pageSize >= MIN_PAGE_SIZE && pageSize <= MAX_PAGE_SIZE && Number.isInteger(Math.log2(pageSize));
  if (!isPossible) return `its header names a page size of ${pageSize} bytes`;
  const second = metaAt(file, pageSize);
  if (typeof second === 'string') return second;
  if (second.pageSize !== pageSize) return `its headers name page sizes of ${pageSize} and ${second.pageSize} bytes`;
  return second.transaction > first.transaction ? second : first;
}

function metaAt(file: number, at: number): Meta | string {
  const bytes = Buffer.alloc(META_BYTES);
  const read = readSync(file, bytes, 0, META_BYTES, at);
  if (read < META_BYTES) return 'the file ends within its header';
  if (bytes.readUInt32LE(MAGIC_AT) !== MAGIC || (bytes.readUInt16LE(FLAGS_AT) & META) === 0) {
    return at === 0 ? 'it is not a database' : 'its second header is overwritten';
  }
  if (bytes.readUInt16LE(VERSION_AT) !== VERSION) return 'its header names another version of LMDB';
  if ((bytes.readUInt16LE(FILE_FLAGS_AT) & CHECKED_FLAGS) !== EXPECTED_FLAGS) return 'its header has unexpected flags';
  const pageSize = bytes.readUInt32LE(FREE_PAGES_AT);
  const lastPage = pageNumberAt(bytes, LAST_PAGE_AT);
  // LMDB takes no page outside the part of the file that it maps into memory.
  const isMapped = (lastPage + 1) * pageSize <= Number(bytes.readBigUInt64LE(MAP_BYTES_AT));
  if (!isMapped) return 'its header names a last page that is outside the file';
  return {
    pageSize,
    lastPage,
    freePages: treeAt(bytes, FREE_PAGES_AT),
    tables: treeAt(bytes, TABLES_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}

const FLAG_OF = { branch: BRANCH, leaf: LEAF, lists: LEAF, value: VALUE } as const;

/** The kinds of pages; the leaves of the tree of free pages have lists of them as values. */
export type PageKind = keyof typeof FLAG_OF;

/** Returns what the entries of a page lead to, or what is wrong with the page. */
export function pageOf(
  bytes: Buffer,
  { number, expected, newest }: { number: number; expected: PageKind; newest: bigint },
): readonly Child[] | string {
  if (pageNumberAt(bytes, 0) !== number) {
    return bytes.every((byte) => byte === 0) ? 'it has only zeros' : 'it has the number of another page';
  }
  if (bytes.readBigUInt64LE(WRITTEN_BY_AT) > newest) return 'it is newer than the last transaction';
  if ((bytes.readUInt16LE(FLAGS_AT) & KIND_FLAGS) !== FLAG_OF[expected])
    return `it is not a page of this kind (${expected})`;
  if (expected === 'value') return [];
  const [lower, upper] = [bytes.readUInt16LE(LOWER_AT), bytes.readUInt16LE(UPPER_AT)];
  // Both count from the end of the header.
  if (lower > upper || lower % 2 !== 0 || upper > bytes.length - PAGE_HEADER_BYTES) return 'its bounds are impossible';
  const children: Child[] = [];
  for (let at = 0; at < lower; at += 2) {
    const entry = PAGE_HEADER_BYTES + bytes.readUInt16LE(PAGE_HEADER_BYTES + at);
    if (entry < PAGE_HEADER_BYTES + upper || entry + ENTRY_HEADER_BYTES > bytes.length) return 'an entry is outside it';
    const keyLength = bytes.readUInt16LE(entry + KEY_LENGTH_AT);
    const valueAt = entry + ENTRY_HEADER_BYTES + keyLength;
    if (valueAt > bytes.length) return 'a key ends outside it';
    if (expected === 'branch') {
      children.push({ kind: 'page', page: shortNumberAt(bytes, entry) });
      continue;
    }
    const child = leafEntry(bytes, { newest, entry, valueAt, isList: expected === 'lists' });
    if (typeof child === 'string') return child;
    if (child !== undefined) children.push(child);
  }
  return children;
}

/** Returns what an entry of a leaf leads to, undefined when its value is in the page, or what is wrong with it. */
function leafEntry(
  bytes: Buffer,
  { newest, entry, valueAt, isList }: { newest: bigint; entry: number; valueAt: number; isList: boolean },
): Child | string | undefined {
  const size = bytes.readUInt32LE(entry);
  const flags = bytes.readUInt16LE(entry + ENTRY_FLAGS_AT);
  if ((flags & VALUE_HAS_PAGES) !== 0) {
    if (valueAt + VALUE_ADDRESS_BYTES > bytes.length) return 'the address of a value is outside it';
    if (bytes.readBigUInt64LE(valueAt + VALUE_WRITTEN_BY_AT) > newest)
      return 'a value is newer than the last transaction';
    const pages = pageNumberAt(bytes, valueAt + VALUE_PAGES_AT);
    const needed = Math.ceil((PAGE_HEADER_BYTES + size) / bytes.length);
    if (pages < needed) return `a value of ${size} bytes has only ${pages} pages`;
    return { kind: 'value', page: pageNumberAt(bytes, valueAt), pages, bytes: size };
  }
  if (valueAt + size > bytes.length) return 'a value ends outside it';
  if (isList) return { kind: 'list', list: Buffer.from(bytes.subarray(valueAt, valueAt + size)) };
  if ((flags & IS_TABLE) === 0) return undefined;
  if (size !== TREE_BYTES) return `the record of a table has ${size} bytes`;
  const name = bytes.toString('latin1', entry + ENTRY_HEADER_BYTES, valueAt).replaceAll('\0', '');
  return { kind: 'table', name, tree: treeAt(bytes, valueAt) };
}

/** The bytes of a value that begins in this page, which is the first of its own pages. */
export const valueIn = (pages: Buffer, bytes: number): Buffer =>
  pages.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + bytes);

const NUMBER_BYTES = 8;

/**
 * Yields the runs of free pages in a list: the count of numbers, then the numbers. A negative one is the length of the run that begins
 * with the number after it, 0 is an unused place. Yields undefined when it is not such a list.
 */
export function* freeRuns(list: Buffer): Iterable<{ first: number; count: number } | undefined> {
  const numbers = list.length < NUMBER_BYTES ? NaN : Number(list.readBigInt64LE(0));
  if (!(numbers >= 0 && (numbers + 1) * NUMBER_BYTES <= list.length)) {
    yield undefined;
    return;
  }
  let count = 1;
  for (let index = 1; index <= numbers; index += 1) {
    const number = Number(list.readBigInt64LE(index * NUMBER_BYTES));
    if (number < 0) count = -number;
    else if (number > 0) {
      yield { first: number, count };
      count = 1;
    }
  }
}
