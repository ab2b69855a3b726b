import { closeSync, ftruncateSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { SeededRandom } from '../../support/seeded-random.ts';

export const PAGE_BYTES = 4_096;

/** Ways in which disks and people damage a file. Each returns what it did. */
type Damage = (file: number, pages: number, random: SeededRandom) => string;

function overwrite(file: number, page: number, bytes: Buffer): void {
  writeSync(file, bytes, 0, bytes.length, page * PAGE_BYTES);
}

const noise = (random: SeededRandom, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const DAMAGES: readonly Damage[] = [
  (file, pages, random) => {
    const page = random.below(pages);
    overwrite(file, page, Buffer.alloc(PAGE_BYTES));
    return `page ${page} is zero`;
  },
  (file, pages, random) => {
    const page = random.below(pages);
    overwrite(file, page, noise(random, PAGE_BYTES));
    return `page ${page} is noise`;
  },
  (file, pages, random) => {
    const [from, to] = [random.below(pages), random.below(pages)];
    const bytes = Buffer.alloc(PAGE_BYTES);
    readSync(file, bytes, 0, PAGE_BYTES, from * PAGE_BYTES);
    overwrite(file, to, bytes);
    return `page ${to} is a copy of page ${from}`;
  },
  (file, pages, random) => {
    const [page, at] = [random.below(pages), random.below(PAGE_BYTES - 8)];
    const bytes = noise(random, 1 + random.below(8));
    writeSync(file, bytes, 0, bytes.length, page * PAGE_BYTES + at);
    return `${bytes.length} bytes at ${at} of page ${page}`;
  },
  (file, pages, random) => {
    // The headers of pages and entries, where damage does most.
    const [page, at] = [random.below(pages), random.below(64)];
    const bytes = noise(random, 1);
    writeSync(file, bytes, 0, 1, page * PAGE_BYTES + at);
    return `byte ${at} of page ${page}`;
  },
  (file, pages, random) => {
    const kept = 1 + random.below(pages - 1);
    ftruncateSync(file, kept * PAGE_BYTES - random.below(2) * 100);
    return `only ${kept} pages are left`;
  },
];

/** Damages a data file in the n-th of all ways, which repeat, and returns what was done. */
export const damageFile = (path: string, n: number, random: SeededRandom): string =>
  edit(path, (file) => {
    const damage = DAMAGES[n % DAMAGES.length];
    return damage?.(file, Math.floor(fstatSync(file).size / PAGE_BYTES), random) ?? '';
  });

/** Changes these bits of one byte of a data file, and returns what was done. */
export const damageByte = (path: string, { page, at, bits }: { page: number; at: number; bits: number }): string =>
  edit(path, (file) => {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, page * PAGE_BYTES + at);
    byte.writeUInt8(byte.readUInt8() ^ bits);
    writeSync(file, byte, 0, 1, page * PAGE_BYTES + at);
    return `byte ${at} of page ${page} is ${byte.readUInt8()}`;
  });

function edit(path: string, change: (file: number) => string): string {
  const file = openSync(path, 'r+');
  try {
    return change(file);
  } finally {
    closeSync(file);
  }
}
