import type { Environment } from './handlers/handler-result.ts';
import type { SecretReference } from '../resources/secret-reference.ts';
import { RunEnded } from './run-ended.ts';
import { type RuntimeAssetPorts, type InstalledAsset, runtimeAssets } from './runtime-assets.ts';

/** The parts of a handler or a mutator that determine its environment. */
interface WithEnvironment {
  runtime_assets: readonly string[] | null;
  secrets: readonly SecretReference[] | null;
}

export interface ResourceEnvironmentPorts {
  assets: RuntimeAssetPorts;
  /** Environment entries of installed assets. */
  entriesOf(assets: readonly InstalledAsset[]): readonly string[];
  /** Environment entries of secrets, or why there are none. */
  secrets(
    namespace: string,
    secrets: WithEnvironment['secrets'],
  ): { environment: readonly string[] } | { missing: string };
}

/** Returns a function that installs the assets of a handler or a mutator and resolves its secrets. It throws RunEnded. */
export function resourceEnvironment({ assets, entriesOf, secrets }: ResourceEnvironmentPorts) {
  return async (
    namespace: string,
    owner: string,
    resource: WithEnvironment,
    signal: AbortSignal,
  ): Promise<Environment> => {
    const resolved = secrets(namespace, resource.secrets);
    if ('missing' in resolved) throw new RunEnded('skipped', `${owner}: ${resolved.missing}`);
    const of = { namespace, name: owner, assets: resource.runtime_assets };
    const installed = await runtimeAssets(assets, of, signal);
    return { assets: entriesOf(installed), secrets: resolved.environment };
  };
}
