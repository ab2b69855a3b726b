import { EntityLimitReached } from '../resources/errors.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import type { TableReader } from '../store/decision.ts';
import { ENTITY_COUNT_KEY, entityKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import type { Scope } from './scope.ts';

/** Of all namespaces and classes; what the backend keeps of itself does not count. */
export function entityCount(reader: TableReader): number {
  return (reader.get('resources', ENTITY_COUNT_KEY) as { count: number } | undefined)?.count ?? 0;
}

/** Whether an entity of that name exists or may come to be. `limit` 0 = no limit. */
export function hasRoomFor(reader: TableReader, limit: number, namespace: string, name: string): boolean {
  if (limit === 0 || entityCount(reader) < limit) return true;
  return namespace === SYSTEM_NAMESPACE || readResource(reader, 'entities', namespace, name) !== undefined;
}

/** A new entity is counted, in the decision that makes it. @throws EntityLimitReached */
export function countNewEntity(scope: Scope, namespace: string, name: string): void {
  if (namespace === SYSTEM_NAMESPACE) return;
  const { entityLimit } = scope.settings;
  const count = entityCount(scope.decision);
  if (entityLimit > 0 && count >= entityLimit) throw new EntityLimitReached(entityLimit, entityKey(namespace, name));
  scope.put('resources', ENTITY_COUNT_KEY, { count: count + 1 });
}

/** In the decision that removes it. */
export function countRemovedEntity(scope: Scope, namespace: string): void {
  if (namespace === SYSTEM_NAMESPACE) return;
  scope.put('resources', ENTITY_COUNT_KEY, { count: entityCount(scope.decision) - 1 });
}
