import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { InstalledAsset } from './runtime-assets.ts';
import { RunEnded } from './run-ended.ts';

/** The maximum number of JavaScript files of one asset. With more, its filters fail. */
const MAX_FILES = 200;
/** The maximum size of the JavaScript of one asset. With more, its filters fail. */
const MAX_BYTES = 1024 * 1024;
/** The directories of one asset that are searched. */
const MAX_DIRECTORIES = 200;
/** The size of the sources that are kept in memory. Beyond it those that were used longest ago are read again. */
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

/** Reads the JavaScript libraries of assets: all `*.js` files below `lib`, in the order of their paths. */
export class Libraries {
  /** An installed asset never changes, because its directory is named after its checksum. */
  readonly #cached = new LRUCache<string, readonly string[]>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (sources) => sources.reduce((size, { length }) => size + length, 1),
  });

  /** @throws RunEnded when an asset has too many libraries */
  async of(assets: readonly InstalledAsset[]): Promise<string[]> {
    const sources: string[] = [];
    for (const asset of assets) sources.push(...(await this.#sourcesOf(asset)));
    return sources;
  }

  async #sourcesOf({ name, directory }: InstalledAsset): Promise<readonly string[]> {
    const cached = this.#cached.get(directory);
    if (cached !== undefined) return cached;
    const sources = await readSources(name, join(directory, 'lib'));
    this.#cached.set(directory, sources);
    return sources;
  }
}

async function readSources(asset: string, root: string): Promise<string[]> {
  const files: string[] = [];
  const directories = [root];
  for (const directory of directories) {
    for (const entry of await entriesOf(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) directories.push(path);
      else if (entry.isFile() && entry.name.endsWith('.js')) files.push(path);
    }
    if (files.length > MAX_FILES) throw tooMuch(asset, `${MAX_FILES} files of JavaScript`);
    if (directories.length > MAX_DIRECTORIES) throw tooMuch(asset, `${MAX_DIRECTORIES} directories below lib`);
  }
  const sources: string[] = [];
  let bytes = 0;
  for (const path of files.sort()) {
    bytes += (await stat(path)).size;
    if (bytes > MAX_BYTES) throw tooMuch(asset, `${MAX_BYTES} bytes of JavaScript`);
    sources.push(await readFile(path, 'utf8'));
  }
  return sources;
}

/** An asset without `lib` has no libraries. */
async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const tooMuch = (asset: string, what: string): RunEnded =>
  new RunEnded('failed', `asset "${asset}" has more than ${what}, which is the limit of a filter's asset`);
