import { AssetManager } from '../../assets/asset-manager.ts';
import type { BackendConfig } from '../../config/backend.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type System, entityWithDefaults } from '../../resources/entity.ts';
import { entityVariable } from '../../resources/entity-data.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { assetSelector } from '../process/asset-selector.ts';
import { readCertificates } from '../tls/tls-files.ts';
import type { Closers } from './closers.ts';

/** The defaults of the flags. */
const DEFAULTS = { tokensPerS: 1.39, burst: 100, allowed: [] };

export interface OpenAssetsPorts {
  sandbox: Pick<Sandbox, 'evaluate'>;
  /** The machine that the backend runs on, which filters of assets see as `entity.system`. */
  machine: System | undefined;
  backendName: string;
  clock: Clock;
  log: Log;
}

/** Opens the assets of handlers, mutators and filters, which the backend installs in `--cache-dir`. */
export function openAssets(
  { cacheDir, assets = DEFAULTS, tls }: Pick<BackendConfig, 'cacheDir' | 'assets' | 'tls'>,
  { sandbox, machine, backendName, clock, log }: OpenAssetsPorts,
  closers: Closers,
): AssetManager {
  const entity = ownEntity(backendName, machine);
  const trustedCa = tls?.trustedCa && readCertificates(tls.trustedCa);
  const manager = new AssetManager(
    { cacheDir, trustedCa, ...assets },
    {
      selects: assetSelector(sandbox, clock),
      entity: () => entity,
      clock,
      log,
    },
  );
  manager.start();
  closers.add(() => {
    manager.stop();
  });
  return manager;
}

/** The backend's own entity, as filters of assets see it. */
function ownEntity(name: string, system: System | undefined): object {
  const entity = entityWithDefaults({ entity_class: 'backend', metadata: { name, namespace: SYSTEM_NAMESPACE } });
  return { ...entityVariable(entity), system: system ?? {} };
}
