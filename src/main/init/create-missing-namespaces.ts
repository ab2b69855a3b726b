import { createPipelineRole } from '../../actors/administration/initial-resources.ts';
import type { Clock } from '../../ports/clock.ts';
import { resourceKey } from '../../store/encoding/keyspace.ts';
import { missingNamespaces } from '../../store/maintenance/orphaned-checks.ts';
import { decideOffline } from './decide-offline.ts';

/** Creates the namespaces that checks name and that do not exist, in a store whose lock the caller holds. Returns their names. */
export async function createMissingNamespaces(directory: string, clock: Clock): Promise<string[]> {
  let created: string[] = [];
  await decideOffline(directory, clock, (decision) => {
    created = missingNamespaces((prefix) => decision.keys('resources', prefix));
    for (const namespace of created) {
      decision.put('resources', resourceKey('namespaces', undefined, namespace), { name: namespace });
      createPipelineRole((kind, home, name, resource) => {
        const key = resourceKey(kind, home, name);
        if (decision.get('resources', key) === undefined) decision.put('resources', key, resource);
      }, namespace);
      decision.ledger.push({
        atMs: clock.nowMs(),
        actor: 'namespaces',
        key: namespace,
        from: null,
        event: 'resource.created',
        to: 'stored',
        cause: { restore: true },
        guards: [],
        configRevision: 0,
      });
    }
  });
  return created;
}
