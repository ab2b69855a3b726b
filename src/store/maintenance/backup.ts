import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../ports/make-directory.ts';
import { DIRECTORY_MODE, FILE_MODE, flush, yieldToEventLoop } from './durable-files.ts';
import { type LedgerHead } from '../ledger/ledger.ts';
import { verify } from '../ledger/ledger-verification.ts';
import { DATA_FILE } from '../lmdb/lmdb-file.ts';
import { RawStore, type StoredBytes } from '../lmdb/raw-store.ts';

/** The free space that a backup needs, as a multiple of the pages in use. */
const SPACE_FACTOR = 1.1;
/** The number of records that are compared between two checks of the signal. */
const RECORDS_PER_SLICE = 1_000;

/** The ending of a directory with an incomplete copy. */
export const PARTIAL = '.partial';

/** The backup could not be created, or differs from the store. Nothing was changed. */
export class BackupFailed extends Error {
  readonly code = 'backup-failed';
}

export interface Backup {
  path: string;
  /** Records in all tables. */
  records: number;
  /** The head of the ledger, or the first broken entry, which is the same in the store and in the backup. */
  ledger: { ok: true; head: LedgerHead } | { ok: false; seq: number; reason: string };
}

export interface BackupOptions {
  /** The file to create. An existing file is replaced. */
  path: string;
  signal: AbortSignal;
  /** Called when the copy is complete and when it has been compared. */
  reached(point: 'copied' | 'compared'): void;
}

/**
 * Copies a store into one file and compares the copy with the store, record by record. The file gets its name after the comparison
 * and is durable when the promise resolves.
 *
 * @throws BackupFailed, or the reason of `signal`
 */
export async function makeBackup(store: RawStore, options: BackupOptions): Promise<Backup> {
  const { path, signal } = options;
  try {
    makeDirectory(dirname(path), DIRECTORY_MODE);
    removeIncomplete(dirname(path));
    assertSpace(store, dirname(path));
    return await copyAndCompare(store, options);
  } catch (error) {
    if (signal.aborted && error === signal.reason) throw error;
    throw new BackupFailed(`the backup ${path} could not be made: ${messageOf(error)}`, { cause: error });
  }
}

async function copyAndCompare(store: RawStore, { path, signal, reached }: BackupOptions): Promise<Backup> {
  const partial = path + PARTIAL;
  mkdirSync(partial, { mode: DIRECTORY_MODE });
  try {
    await store.copyTo(partial);
    const file = join(partial, DATA_FILE);
    chmodSync(file, FILE_MODE);
    flush(file);
    reached('copied');
    const compared = await compareWith(store, partial, signal);
    reached('compared');
    renameSync(file, path);
    flush(dirname(path));
    return { path, ...compared };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** The names of incomplete copies before an upgrade. */
const INCOMPLETE = /^pre-\d+-\d+-.*\.mdb\.partial$/;

/** Removes the incomplete copies that killed upgrades left. Other programs may write other files there. */
function removeIncomplete(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (INCOMPLETE.test(name)) rmSync(join(directory, name), { recursive: true });
  }
}

/** @throws Error when the directory's file system has no room for the copy */
export function assertSpace(store: RawStore, directory: string): void {
  const neededBytes = Math.ceil(store.size().usedBytes * SPACE_FACTOR);
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes) {
    throw new Error(`it needs ${neededBytes} bytes of free space, and there are ${freeBytes}`);
  }
}

/** Compares every record of every table, and verifies the ledger of the copy. @throws Error that names the first difference */
async function compareWith(store: RawStore, directory: string, signal: AbortSignal): Promise<Omit<Backup, 'path'>> {
  const copy = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    const tables = store.tableNames();
    if (tables.join() !== copy.tableNames().join()) throw new Error('the copy has other tables');
    let records = 0;
    for (const table of tables) {
      await yieldToEventLoop(signal);
      records += await compareTable(table, store, copy, signal);
    }
    const [mine, copied] = [verify(store.ledgerEntries()), verify(copy.ledgerEntries())];
    if (JSON.stringify(mine) !== JSON.stringify(copied)) throw new Error('the copy has another ledger');
    return { records, ledger: copied };
  } finally {
    await copy.close();
  }
}

/** Compares one table and returns the number of its records. @throws Error that names the first difference */
async function compareTable(table: string, store: RawStore, copy: RawStore, signal: AbortSignal): Promise<number> {
  const others = copy.bytesOf(table)[Symbol.iterator]();
  let count = 0;
  for (const record of store.bytesOf(table)) {
    const other = others.next();
    if (other.done === true || !isSame(record, other.value))
      throw new Error(`the copy differs at ${table} ${record.key}`);
    count += 1;
    if (count % RECORDS_PER_SLICE === 0) await yieldToEventLoop(signal);
  }
  if (others.next().done !== true) throw new Error(`the copy has more records in ${table}`);
  return count;
}

const isSame = (a: StoredBytes, b: StoredBytes): boolean => a.key === b.key && a.value.equals(b.value);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
