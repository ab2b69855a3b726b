import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOf, DIRECTORY_MODE, FILE_MODE, flush } from './durable-files.ts';
import type { Verification } from '../ledger/ledger-verification.ts';
import { DATA_FILE, READERS_FILE } from '../lmdb/lmdb-file.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { describePage } from './intact-pages.ts';
import { walkPages } from '../pages/page-walk.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { auditStore, type StoreAudit } from './store-audit.ts';
import { assertKnown, STORE_VERSION_KEY, UPGRADE_KEY } from '../lmdb/store-version.ts';
import { hasActorIndex, verifyLedgerOf } from './stored-ledger.ts';

const INCOMPLETE = 'restore.partial';

/** The backup could not be restored. The store is what it was before. */
export class RestoreFailed extends Error {
  readonly code = 'restore-failed';
}

export interface RestoreOptions {
  /** Directory of the store. The caller holds its lock. */
  directory: string;
  /** The backup: a file that `backup` or `upgrade` made. */
  path: string;
  /** Moves a present store to `<directory>.old-<time>` instead of refusing it. */
  replaces: boolean;
  nowMs: number;
  signal: AbortSignal;
}

export interface Restored {
  bytes: number;
  records: number;
  storeVersion: number;
  /** False when the backup has no manifest, as those of an upgrade. */
  hasManifest: boolean;
  damaged: StoreAudit['damaged'];
  ledger: Verification;
  /** Where the former store is; undefined when there was none. */
  movedTo: string | undefined;
}

/**
 * Copies a backup into the place of a store. The copy is compared with the manifest, every page and record of it is read, and its
 * ledger is verified, before it takes its place. It is durable when the promise resolves.
 *
 * @throws RestoreFailed, StoreTooNew, StoreTooOld, or the reason of `signal`
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { directory, path, replaces } = options;
  const target = join(directory, DATA_FILE);
  const exists = (statSync(target, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (exists && !replaces) {
    throw new RestoreFailed(
      `${directory} already contains a store: add --replace, which moves that store to ${directory}.old-<time>, or move it away yourself`,
    );
  }
  const backup = statSync(path, { throwIfNoEntry: false });
  if (backup === undefined) throw new RestoreFailed(`there is no backup ${path}`);
  // A named pipe would be read for ever.
  if (!backup.isFile()) throw new RestoreFailed(`${path} is not a regular file, so it cannot be a backup`);
  const manifest = manifestOf(path);
  const incomplete = join(directory, INCOMPLETE);
  rmSync(incomplete, { recursive: true, force: true });
  mkdirSync(incomplete, { mode: DIRECTORY_MODE });
  try {
    const copied = await verifiedCopy(options, manifest, incomplete);
    const movedTo = exists ? moveAside(options) : undefined;
    // The table of readers belongs to the former store.
    rmSync(join(directory, READERS_FILE), { force: true });
    renameSync(join(incomplete, DATA_FILE), target);
    flush(directory);
    return { ...copied, hasManifest: manifest !== undefined, movedTo };
  } finally {
    rmSync(incomplete, { recursive: true, force: true });
  }
}

function manifestOf(path: string): Manifest | undefined {
  try {
    return readManifest(path);
  } catch (error) {
    throw new RestoreFailed(messageOf(error), { cause: error });
  }
}

async function verifiedCopy(
  { path, signal }: RestoreOptions,
  manifest: Manifest | undefined,
  incomplete: string,
): Promise<Omit<Restored, 'hasManifest' | 'movedTo'>> {
  const file = join(incomplete, DATA_FILE);
  copy(path, file);
  const { size } = statSync(file);
  if (manifest !== undefined && ((await digestOf(file, signal)) !== manifest.sha256 || size !== manifest.bytes)) {
    throw new RestoreFailed(
      `${path} is not the file that its manifest describes: its SHA-256 differs; use another backup`,
    );
  }
  const [page] = walkPages(file).damaged;
  if (page !== undefined) throw new RestoreFailed(`${path} is damaged, use another backup: ${describePage(page)}`);
  const store = new RawStore({ directory: incomplete, sync: 'full', readOnly: true });
  try {
    const storeVersion = store.tableNames().includes('meta') ? Number(store.meta(STORE_VERSION_KEY)) : NaN;
    if (!Number.isInteger(storeVersion)) throw new RestoreFailed(`${path} is not a backup of a store`);
    assertKnown(storeVersion);
    const { tables, damaged } = await auditStore(store, signal);
    const difference = manifest && differenceOf(manifest.tables, tables);
    if (difference !== undefined) throw new RestoreFailed(`${path} differs from its manifest: ${difference}`);
    return {
      bytes: size,
      records: Object.values(tables).reduce((sum, { records }) => sum + records, 0),
      storeVersion,
      damaged,
      ledger: verifyLedgerOf(store, hasActorIndex(storeVersion, store.meta(UPGRADE_KEY) !== undefined)),
    };
  } finally {
    await store.close();
  }
}

/** @throws RestoreFailed when the file cannot be copied, for example because the disk is full */
function copy(from: string, to: string): void {
  try {
    copyFileSync(from, to);
    chmodSync(to, FILE_MODE);
    flush(to);
  } catch (error) {
    throw new RestoreFailed(`${from} could not be copied to ${to}: ${messageOf(error)}`, { cause: error });
  }
}

/** Names the first table that differs from the manifest. */
function differenceOf(expected: Manifest['tables'], found: StoreAudit['tables']): string | undefined {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  const table = names.find((name) => expected[name]?.sha256 !== found[name]?.sha256);
  return table === undefined ? undefined : `table ${table}`;
}

/** Moves the files of the present store, but not its lock, which this process holds. */
function moveAside({ directory, nowMs }: RestoreOptions): string {
  // With milliseconds: two restores may come within a second.
  const stamp = new Date(nowMs).toISOString().replace(/[-:.]/g, '');
  const aside = `${directory}.old-${stamp}`;
  mkdirSync(aside, { mode: DIRECTORY_MODE });
  for (const name of readdirSync(directory)) {
    if (name === DATA_FILE || name === READERS_FILE) renameSync(join(directory, name), join(aside, name));
  }
  flush(aside);
  flush(dirname(directory));
  return aside;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
