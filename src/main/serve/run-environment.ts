import { assetEnvironment } from '../../assets/asset-environment.ts';
import { AssetFailed } from '../../assets/asset-failed.ts';
import type { AssetManager } from '../../assets/asset-manager.ts';
import { Libraries } from '../../pipeline/libraries.ts';
import type { MutatorPorts } from '../../pipeline/mutators.ts';
import type { ResourceEnvironmentPorts } from '../../pipeline/resource-environment.ts';
import { type RuntimeAssetPorts, runtimeAssets } from '../../pipeline/runtime-assets.ts';
import { resolveSecrets, type SecretValues } from '../../pipeline/secrets.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

/** What filters, mutators and handlers get besides the event: assets and secrets. */
export interface RunEnvironment {
  environment: ResourceEnvironmentPorts;
  libraries: MutatorPorts['libraries'];
}

/** Looks up assets and secrets, and installs the assets. */
export function runEnvironment(
  store: TransactionalStore,
  secretValues: SecretValues,
  manager: Pick<AssetManager, 'install'>,
): RunEnvironment {
  const assets: RuntimeAssetPorts = {
    asset: (namespace, name) => readResource(store, 'assets', namespace, name),
    install: (wanted, signal) => manager.install(wanted, signal),
    isAssetFailure: (error) => error instanceof AssetFailed,
  };
  const libraries = new Libraries();
  return {
    environment: {
      assets,
      entriesOf: assetEnvironment,
      secrets: (namespace, secrets) => resolveSecrets(store, secretValues, namespace, secrets),
    },
    libraries: async (namespace, name, named, signal) =>
      libraries.of(await runtimeAssets(assets, { namespace, name, assets: named }, signal)),
  };
}
