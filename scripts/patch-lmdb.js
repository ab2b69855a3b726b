/**
 * Mends the native modules of the package `lmdb`. They write the text about a failed write into a buffer that is shorter
 * than the text, so that a full disk damages the heap of the program. The mended text ends before the numbers that make
 * it too long. With `--check` it changes nothing and fails if there is something to mend. See
 * docs/decisions/0024-lmdb-error-text.md.
 */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const TEXT = Buffer.from('Attempting to write page at position %u, size %u, blocks %u, buffer sizes %i %i %i\0');
/** The part of the text that stays: at most 89 characters with its numbers, and the buffer has 100. */
const KEPT_LENGTH = TEXT.indexOf(', buffer sizes');

/** Returns the installed native modules. Those of other systems are signed or built there, and stay as they are. */
function nativeModules() {
  if (process.platform !== 'linux') return [];
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  const directory = join(dirname(lmdb), '..', '..', '@lmdb', `lmdb-${process.platform}-${process.arch}`);
  return readdirSync(directory)
    .filter((name) => name.endsWith('.node'))
    .map((name) => join(directory, name));
}

/** Replaces a native module, so that programs that have loaded it keep the old one. */
function mend(path) {
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.indexOf(TEXT) + KEPT_LENGTH, bytes.indexOf(TEXT) + TEXT.length);
  const mended = `${path}.${process.pid}.mended`;
  writeFileSync(mended, bytes, { mode: statSync(path).mode });
  renameSync(mended, path);
}

const faulty = nativeModules().filter((path) => readFileSync(path).includes(TEXT));
if (!process.argv.includes('--check')) {
  faulty.forEach(mend);
} else if (faulty.length > 0) {
  process.stderr.write(`run 'node scripts/patch-lmdb.js' to mend ${faulty.join(', ')}\n`);
  process.exitCode = 1;
}
