import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SeededRandom } from '../../support/seeded-random.ts';

const SOURCE = fileURLToPath(new URL('recorded-writes.c', import.meta.url));
/** The header of a record: two numbers of 4 bytes and three of 8. */
const HEADER_BYTES = 32;
/** A disk writes this much completely or not at all. */
const SECTOR_BYTES = 512;

const KINDS = [undefined, 'write', 'write-ended', 'sync', 'sync-ended', 'truncate'] as const;

/** What a program did to the file, in order. */
export interface Operation {
  kind: NonNullable<(typeof KINDS)[number]>;
  /** Of the operation, which has two records when it can end. */
  id: bigint;
  /** Whether a write returns only when it is on disk. */
  isSynchronous: boolean;
  /** Of a write; the new length of a truncation. */
  offset: number;
  bytes: Buffer;
  /** The length of the journal with this record. */
  end: number;
}

export const hasCompiler = (): boolean => spawnSync('cc', ['--version']).status === 0;

/** Compiles the library that records writes. Returns its path. @throws Error without a C compiler */
export function compileRecorder(directory: string): string {
  const library = join(directory, 'recorded-writes.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, SOURCE, '-ldl', '-lpthread']);
  return library;
}

/** Reads a journal. A record whose end is missing is left out: the program was killed. */
export function readJournal(path: string): Operation[] {
  const journal = readFileSync(path);
  const operations: Operation[] = [];
  for (let at = 0; at + HEADER_BYTES <= journal.length;) {
    const kind = KINDS[journal.readUInt32LE(at)];
    if (kind === undefined) throw new Error(`there is no record at ${at} of the journal`);
    const isSynchronous = journal.readUInt32LE(at + 4) === 1;
    const [id, offset, length] = [8, 16, 24].map((field) => journal.readBigUInt64LE(at + field)) as [
      bigint,
      bigint,
      bigint,
    ];
    const end = at + HEADER_BYTES + Number(length);
    if (end > journal.length) break;
    const bytes = journal.subarray(at + HEADER_BYTES, end);
    operations.push({ kind, id, isSynchronous, offset: Number(offset), bytes, end });
    at = end;
  }
  return operations;
}

/**
 * The file as it may be on disk when the power fails after the first `count` operations: everything that the program knows to be on
 * disk, and of the rest any sectors.
 */
export function afterPowerCut(initial: Buffer, operations: readonly Operation[], count: number, random: SeededRandom) {
  const done = operations.slice(0, count);
  const ended = new Set(done.filter(({ kind }) => kind.endsWith('-ended')).map(({ id }) => id));
  const lastSync = done.findLastIndex(({ kind, id }) => kind === 'sync' && ended.has(id));
  let file: Buffer = Buffer.from(initial);
  for (const [index, { kind, id, isSynchronous, offset, bytes }] of done.entries()) {
    if (kind === 'truncate') file = resized(file, offset);
    if (kind !== 'write') continue;
    if (offset + bytes.length > file.length) file = resized(file, offset + bytes.length);
    const isOnDisk = index < lastSync || (isSynchronous && ended.has(id));
    if (isOnDisk) bytes.copy(file, offset);
    else copySome(bytes, file, offset, random);
  }
  return file;
}

/** Copies whole sectors of a file, each or not. */
function copySome(bytes: Buffer, file: Buffer, offset: number, random: SeededRandom): void {
  for (let at = 0; at < bytes.length;) {
    const next = at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES);
    if (random.below(2) === 0) bytes.copy(file, offset + at, at, Math.min(next, bytes.length));
    at = next;
  }
}

function resized(file: Buffer, length: number): Buffer {
  if (length <= file.length) return file.subarray(0, length);
  return Buffer.concat([file, Buffer.alloc(length - file.length)]);
}
