import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assertSpace, BackupFailed, PARTIAL } from './backup.ts';
import { digestOf, DIRECTORY_MODE, FILE_MODE, flush } from './durable-files.ts';
import type { Verification } from '../ledger/ledger-verification.ts';
import { DATA_FILE } from '../lmdb/lmdb-file.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { assertIntactPages, describePage } from './intact-pages.ts';
import { walkPages } from '../pages/page-walk.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { auditStore, type StoreAudit } from './store-audit.ts';
import { StoreDamaged } from './store-damaged.ts';
import { reportingDamage } from './store-state.ts';
import { STORE_VERSION_KEY, UPGRADE_KEY } from '../lmdb/store-version.ts';
import { hasActorIndex, verifyLedgerOf } from './stored-ledger.ts';

/** Attempts at a copy while the store grows beyond the part of it that is mapped into memory. */
const MAX_ATTEMPTS = 5;

/** The file of the backup already exists; it is not overwritten. */
export class BackupExists extends Error {
  readonly code = 'backup-exists';

  constructor(path: string) {
    super(`the file ${path} already exists; choose another path, backups are never overwritten`);
  }
}

export interface HotBackupOptions {
  /** Directory of the store. A backend may use it meanwhile. */
  directory: string;
  /** The file to create. */
  path: string;
  /** Version of this program, for the manifest. */
  program: string;
  nowMs: number;
  signal: AbortSignal;
}

export interface HotBackup {
  manifest: Omit<Manifest, 'format'>;
  /** Records whose checksum does not match, in the store and in the backup. */
  damaged: StoreAudit['damaged'];
  ledger: Verification;
}

/**
 * Copies a store into one file while a backend may use it. The copy is one read transaction: it has all decisions up to its
 * beginning and none after it, and no write waits for it. It is flushed, every page and record of it is read, its ledger is
 * verified, and its manifest is written beside it. The file gets its name after that.
 *
 * @throws BackupExists; BackupFailed when it cannot be made; StoreDamaged when pages of the store are
 *   damaged; or the reason of `signal`
 */
export async function makeHotBackup(options: HotBackupOptions): Promise<HotBackup> {
  const { path, signal } = options;
  const partial = path + PARTIAL;
  if (existsSync(path)) throw new BackupExists(path);
  try {
    assertDirectory(dirname(path));
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { mode: DIRECTORY_MODE });
    try {
      await reportingDamage(options.directory, () => copy(options, partial));
      return await verified(options, partial);
    } finally {
      rmSync(partial, { recursive: true, force: true });
    }
  } catch (error) {
    if (error instanceof StoreDamaged || (signal.aborted && error === signal.reason)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackupFailed(`the backup ${path} could not be made: ${reason}`, { cause: error });
  }
}

/** A directory that is created for a misspelt path would hide the mistake. */
function assertDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new Error(`there is no directory ${directory}; create it first, or correct the path`);
}

/** The store may outgrow its map between the opening and the copy; it is opened again then. */
async function copy({ directory, path }: HotBackupOptions, partial: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const store = new RawStore({ directory, sync: 'full', readOnly: true });
    try {
      assertIntactPages(directory, store);
      assertSpace(store, dirname(path));
      await store.copyTo(partial);
      return;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !String(error).includes('MDB_MAP_RESIZED')) throw error;
      rmSync(join(partial, DATA_FILE), { force: true });
    } finally {
      await store.close();
    }
  }
}

async function verified(options: HotBackupOptions, partial: string): Promise<HotBackup> {
  const { path, program, nowMs, signal } = options;
  const file = join(partial, DATA_FILE);
  chmodSync(file, FILE_MODE);
  flush(file);
  const [damagedPage] = walkPages(file).damaged;
  if (damagedPage !== undefined) throw new Error(`the copy has a damaged page: ${describePage(damagedPage)}`);
  const sha256 = await digestOf(file, signal);
  const store = new RawStore({ directory: partial, sync: 'full', readOnly: true });
  try {
    const { tables, damaged } = await auditStore(store, signal);
    const storeVersion = Number(store.meta(STORE_VERSION_KEY));
    const ledger = verifyLedgerOf(store, hasActorIndex(storeVersion, store.meta(UPGRADE_KEY) !== undefined));
    const manifest = {
      madeAtMs: nowMs,
      program,
      storeVersion,
      bytes: statSync(file).size,
      sha256,
      ledger: ledger.ok ? `${ledger.head.seq}:${ledger.head.hash}` : undefined,
      tables,
    };
    writeManifest(path, manifest);
    renameSync(file, path);
    flush(dirname(path));
    return { manifest, damaged, ledger };
  } finally {
    await store.close();
  }
}
