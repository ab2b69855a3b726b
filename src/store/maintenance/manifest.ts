import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FILE_MODE, flush } from './durable-files.ts';
import type { TableDigest } from './store-audit.ts';

/** The version of the layout of a manifest. */
const FORMAT = 1;
const ENDING = '.manifest.json';
/** A manifest has one entry for each table of the store: about 3 kB. */
const MAX_MANIFEST_BYTES = 1024 * 1024;

/** The contents of a backup, for the verification of the file and of a store that is restored from it. */
export interface Manifest {
  format: typeof FORMAT;
  /** Unix milliseconds. */
  madeAtMs: number;
  /** Version of the program that made the backup. */
  program: string;
  storeVersion: number;
  bytes: number;
  /** SHA-256 of the file. */
  sha256: string;
  /** The head of the ledger as `number:hash`; undefined when the ledger is broken. */
  ledger: string | undefined;
  tables: Readonly<Record<string, TableDigest>>;
}

/** The manifest of a backup is beside it. */
export const manifestPath = (backup: string): string => backup + ENDING;

/** Writes the manifest of a backup. It is durable when this returns. */
export function writeManifest(backup: string, manifest: Omit<Manifest, 'format'>): void {
  const path = manifestPath(backup);
  rmSync(path, { force: true });
  const whole: Manifest = { format: FORMAT, ...manifest };
  writeFileSync(path, `${JSON.stringify(whole, null, 2)}\n`, { mode: FILE_MODE, flag: 'wx' });
  flush(path);
  flush(dirname(path));
}

/** Reads the manifest of a backup; undefined when it has none. @throws Error when the file is not a manifest */
export function readManifest(backup: string): Manifest | undefined {
  const path = manifestPath(backup);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const isReadable = found.isFile() && found.size <= MAX_MANIFEST_BYTES;
  const manifest = isReadable ? parsed(readFileSync(path, 'utf8')) : null;
  if (!isManifest(manifest)) throw new Error(`${path} is not the manifest of a backup`);
  return manifest;
}

function parsed(text: string): Partial<Manifest> | null {
  try {
    return JSON.parse(text) as Partial<Manifest> | null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const isManifest = (value: Partial<Manifest> | null): value is Manifest =>
  value?.format === FORMAT &&
  typeof value.sha256 === 'string' &&
  typeof value.bytes === 'number' &&
  typeof value.storeVersion === 'number' &&
  typeof value.tables === 'object' &&
  value.tables !== null;
