import { DEFAULT_SETTINGS } from '../../actors/core/settings.ts';
import type { SilenceConfig } from '../../config/flags/silence-flags.ts';
import type { DryRunRoutePorts } from '../../http/routes/dry-run.ts';
import type { DryRunPorts } from '../../pipeline/dry-run.ts';
import { NOT_INSTALLED } from '../../pipeline/dry-run-end.ts';
import { EventLookups } from '../../pipeline/event-lookups.ts';
import { Libraries } from '../../pipeline/libraries.ts';
import type { MutatorPorts } from '../../pipeline/mutators.ts';
import { StoredPipelineResources } from '../../pipeline/pipeline-resources.ts';
import type { ResourceEnvironmentPorts } from '../../pipeline/resource-environment.ts';
import { RunEnded } from '../../pipeline/run-ended.ts';
import { runtimeAssets } from '../../pipeline/runtime-assets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { EventStore } from '../../store/event-store.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';

export interface DryRunParts {
  store: TransactionalStore;
  sandbox: Pick<Sandbox, 'filter' | 'mutate'>;
  environment: ResourceEnvironmentPorts;
  clock: Clock;
  log: Log;
}

/** The dependencies of dry runs. An asset that is not installed is not fetched, because the signal is aborted before. */
export function dryRunPorts(
  { silenceMatchEntitySubscriptions = DEFAULT_SETTINGS.silencesMatchEntitySubscriptions }: SilenceConfig,
  { store, sandbox, environment, clock, log }: DryRunParts,
): DryRunRoutePorts['dryRuns'] {
  const silencing = { matchEntitySubscriptions: silenceMatchEntitySubscriptions };
  const libraries = new Libraries();
  const reader = new VisibleStore(store);
  const lookups = new EventLookups(new EventStore(store));
  const installed = async (namespace: string, owner: string, assets: readonly string[] | null) => {
    const noDownload = AbortSignal.abort(new RunEnded('failed', `an asset of ${owner} ${NOT_INSTALLED}`));
    try {
      return await runtimeAssets(environment.assets, { namespace, name: owner, assets }, noDownload);
    } catch (error) {
      if (error instanceof RunEnded) throw error;
      // With an aborted signal the manager passes on its errors as they are.
      throw new RunEnded('failed', `${owner}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const librariesOf: MutatorPorts['libraries'] = async (namespace, owner, assets) =>
    libraries.of(await installed(namespace, owner, assets));
  const ports = (mayReadEvents: boolean): DryRunPorts => ({
    resources: (namespace) => new StoredPipelineResources(reader, namespace),
    filters: {
      filter: (namespace, name) => readResource(reader, 'filters', namespace, name),
      libraries: (namespace, name, filter) => librariesOf(namespace, `filter "${name}"`, filter.runtime_assets),
      evaluate: (task, owner) =>
        sandbox.filter({ ...task, events: mayReadEvents ? lookups.of(owner.namespace) : undefined }, owner),
    },
    mutators: {
      mutator: (namespace, name) => readResource(reader, 'mutators', namespace, name),
      // The environment of this program is meant for handlers, not for everyone who may read mutators.
      variable: () => undefined,
      libraries: librariesOf,
      evaluate: (task, owner) =>
        sandbox.mutate({ ...task, events: mayReadEvents ? lookups.of(owner.namespace) : undefined }, owner),
      log,
    },
    missing: async (namespace, owner, { runtime_assets, secrets }) => {
      const resolved = environment.secrets(namespace, secrets);
      const missing = 'missing' in resolved ? [`${owner}: ${resolved.missing}`] : [];
      try {
        await installed(namespace, owner, runtime_assets);
      } catch (error) {
        if (!(error instanceof RunEnded)) throw error;
        missing.push(error.message);
      }
      return missing;
    },
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
  });
  return { ports, moment: () => ({ reader, nowS: Math.floor(clock.nowMs() / 1_000), silencing }) };
}
