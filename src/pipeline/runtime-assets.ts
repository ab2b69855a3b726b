import type { Asset } from '../resources/asset.ts';
import { RunEnded } from './run-ended.ts';

/** An asset on the disk of this backend. */
export interface InstalledAsset {
  name: string;
  directory: string;
}

export interface RuntimeAssetPorts {
  asset(namespace: string, name: string): Asset | undefined;
  /** Leaves out assets that are not for this system. @throws AssetFailed with the name of the asset and the reason */
  install(assets: readonly Asset[], signal?: AbortSignal): Promise<InstalledAsset[]>;
  isAssetFailure(error: unknown): boolean;
}

export interface AssetOwner {
  namespace: string;
  /** The owner as errors name it, for example `handler "slack"`. */
  name: string;
  assets: readonly string[] | null;
}

/**
 * Returns the installed runtime assets of a resource.
 * @throws RunEnded: a run is skipped when an asset does not exist, and fails when one cannot be installed
 */
export async function runtimeAssets(
  { asset, install, isAssetFailure }: RuntimeAssetPorts,
  { namespace, name: owner, assets }: AssetOwner,
  signal?: AbortSignal,
): Promise<InstalledAsset[]> {
  if (assets === null || assets.length === 0) return [];
  const wanted = assets.map((name) => {
    const found = asset(namespace, name);
    if (found === undefined) throw new RunEnded('skipped', `asset "${name}" of ${owner} does not exist`);
    return found;
  });
  try {
    return await install(wanted, signal);
  } catch (error) {
    if (!isAssetFailure(error)) throw error;
    throw new RunEnded('failed', `${owner}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
