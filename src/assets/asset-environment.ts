import { delimiter, join } from 'node:path';

/** An asset that is unpacked in a directory. */
export interface InstalledAsset {
  name: string;
  directory: string;
}

/** Search paths, each with the directory of an asset that it gets. */
const SEARCH_PATHS = { PATH: 'bin', LD_LIBRARY_PATH: 'lib', CPATH: 'include' };

/** The variable with the directory of an asset: `acme/http-checks` has `ACME_HTTP_CHECKS_PATH`. */
const pathVariable = (name: string): string => `${name.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase()}_PATH`;

/**
 * Returns the variables of a command that uses the assets, as `NAME=value`. The search paths list the assets in order; the
 * caller prepends them to those of the command. Source: spec/04 2.11.
 */
export function assetEnvironment(assets: readonly InstalledAsset[]): string[] {
  if (assets.length === 0) return [];
  const searchPaths = Object.entries(SEARCH_PATHS).map(
    ([name, inside]) => `${name}=${assets.map(({ directory }) => join(directory, inside)).join(delimiter)}`,
  );
  return [...searchPaths, ...assets.map(({ name, directory }) => `${pathVariable(name)}=${directory}`)];
}
