import type { Asset } from '../resources/asset.ts';
import { Overloaded } from '../resources/errors.ts';
import { hasCause, isShortageError } from '../rules/shortage.ts';
import { NotStarted } from './not-started.ts';
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
 * @throws NotStarted when one cannot be installed for want of descriptors, memory or room in the sandbox
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
    const reason = `${owner}: ${error instanceof Error ? error.message : String(error)}`;
    if (isForLackOfRoom(error)) throw new NotStarted(reason, { cause: error });
    throw new RunEnded('failed', reason);
  }
}

/** Whether a later attempt may succeed without a change of the asset or of its server. */
const isForLackOfRoom = (error: unknown): boolean =>
  isShortageError(error) || hasCause(error, (cause) => cause instanceof Overloaded);
