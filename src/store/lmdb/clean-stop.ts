import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CorruptRecord } from '../encoding/sealed.ts';
import { DATA_FILE } from './lmdb-file.ts';

const MARK_FILE = 'clean-stop';
/** Another one after each start of the system. Only Linux has it; other systems have no marks. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
/** Systems count the time of a change in steps of up to 10 ms. A later change within the same step would not be seen. */
const TIME_STEP_MS = 20;

/**
 * Marks that the environment in a directory was closed without a failed write, and in which state its data file is. A full disk
 * prevents the mark. The caller holds the lock.
 */
export function markCleanStop(directory: string): void {
  awaitTimeStep(directory);
  const state = stateOf(directory);
  if (state === undefined) return;
  try {
    writeFileSync(join(directory, MARK_FILE), state, { mode: 0o600 });
  } catch (error) {
    // Without the mark the next start checks the data file.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/**
 * Whether the data file is exactly as a clean stop left it, and the system has not been restarted since: neither a program nor a power
 * cut has changed it. It is then as safe to use as if its program had not stopped.
 */
export function isUnchangedSinceCleanStop(directory: string): boolean {
  const mark = readIfThere(join(directory, MARK_FILE));
  return mark !== undefined && mark === stateOf(directory);
}

/**
 * Asserts that the data file of a used store is neither empty nor missing, because LMDB would create a new store. An empty file also
 * remains when the first start is killed within its first milliseconds.
 *
 * @throws CorruptRecord
 */
export function assertDataFileNotLost(directory: string): void {
  const size = statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size;
  if (size === 0) throw new CorruptRecord('the file is empty; remove it if no backend has ever run here');
  if (size === undefined && existsSync(join(directory, MARK_FILE))) {
    throw new CorruptRecord(`the file is missing; to begin a new store, remove ${join(directory, MARK_FILE)}`);
  }
}

/** Removes the mark. Called before the data file is opened for writing. */
export const removeMark = (directory: string): void => rmSync(join(directory, MARK_FILE), { force: true });

function awaitTimeStep(directory: string): void {
  const changedMs = statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.ctimeMs ?? 0;
  const waitMs = changedMs + TIME_STEP_MS - Date.now();
  // The clock may have been set back.
  if (waitMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(waitMs, TIME_STEP_MS));
}

/** The identity, the size and the times of the last change of the data file. */
function stateOf(directory: string): string | undefined {
  const bootId = readIfThere(BOOT_ID_FILE);
  const file = statSync(join(directory, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  if (bootId === undefined || file === undefined) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = file;
  return [bootId.trim(), dev, ino, size, mtimeNs, ctimeNs].join('\n');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
