import { type Database, open, type RootDatabase } from 'lmdb';
import { assertReadersFile, hasAllPages, prepareDataFile, reserveReadersFile, restrictToOwner } from './lmdb-file.ts';

const MAX_DATABASES = 32;
/**
 * The address space that is reserved for the file, which grows only as it is written. When the file becomes larger, LMDB maps it
 * again at twice the size and keeps the old mapping, so that its pages are in memory twice.
 */
const MAP_BYTES = 1024 * 1024 * 1024;
/** The two meta pages at the beginning of the file. */
const META_PAGES = 2;

/** The unnamed database, whose keys are the names of the others. */
export type Environment = RootDatabase<Buffer, string>;
/** A named database with text keys. */
export type TextTable = Database<Buffer, string>;
/** The table of the ledger, whose keys are sequence numbers. */
export type LedgerTable = Database<Buffer, number>;

export interface EnvironmentOptions {
  /** Directory of the environment; it is created if it does not exist. */
  directory: string;
  /** `none` survives `kill -9` but not a power cut. */
  sync: 'full' | 'none';
  readOnly?: boolean;
}

/** Opens an LMDB environment. @throws CorruptRecord when its files are not those of a database; NoSpaceForReaders */
export function openEnvironment({ directory, sync, readOnly = false }: EnvironmentOptions): Environment {
  assertReadersFile(directory);
  // Another process may own the file, so a read-only environment only checks that it is a database.
  if (readOnly) hasAllPages(directory);
  else prepareDataFile(directory);
  reserveReadersFile(directory);
  const root = open<Buffer, string>({
    path: directory,
    encoding: 'binary',
    mapSize: MAP_BYTES,
    maxDbs: MAX_DATABASES,
    overlappingSync: false,
    eventTurnBatching: false,
    noSync: sync === 'none',
    noSubdir: false,
    readOnly,
  });
  if (!readOnly) restrictToOwner(directory);
  return root;
}

export const textTable = (root: Environment, name: string): TextTable =>
  root.openDB<Buffer, string>({ name, encoding: 'binary' });

export const ledgerTable = (root: Environment): LedgerTable =>
  root.openDB<Buffer, number>({ name: 'ledger', encoding: 'binary', keyEncoding: 'uint32' });

/** The statistics of a tree that LMDB returns. */
interface TreeStats {
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
  entryCount: number;
}

interface RootStats extends TreeStats {
  pageSize: number;
  lastPageNumber: number;
  free: TreeStats;
}

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;

/** The number of records of a table, and the size of its pages. */
export function sizeOfTable(root: Environment, table: { getStats(): object }): { entries: number; bytes: number } {
  const stats = table.getStats() as TreeStats;
  const { pageSize } = root.getStats() as RootStats;
  return { entries: stats.entryCount, bytes: pagesOf(stats) * pageSize };
}

export interface EnvironmentSize {
  bytes: number;
  usedBytes: number;
  freePages: number;
}

/** Computes the size of an environment with these named databases. Pages that belong to no tree and not to the list of free pages are free. */
export function sizeOf(root: Environment, databases: readonly { getStats(): object }[]): EnvironmentSize {
  const { pageSize, lastPageNumber, free, ...rootTree } = root.getStats() as RootStats;
  const trees = [rootTree, free, ...databases.map((database) => database.getStats() as TreeStats)];
  const pages = lastPageNumber + 1;
  const usedPages = trees.reduce((sum, tree) => sum + pagesOf(tree), META_PAGES);
  return { bytes: pages * pageSize, usedBytes: usedPages * pageSize, freePages: pages - usedPages };
}
