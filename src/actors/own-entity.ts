import { type Entity, entityWithDefaults } from '../resources/entity.ts';
import { readEntity } from '../store/entity-store.ts';
import { entityKey, resourceKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import { storeNewEntity } from './proxy-entities.ts';
import type { Scope } from './scope.ts';

/** The backend's own namespace: it monitors itself there. */
export const SYSTEM_NAMESPACE = 'mon-system';

/** The entity of the backend itself, made with its namespace where somebody has deleted it. */
export function ensureOwnEntity(scope: Scope, name: string): Entity {
  const namespace = SYSTEM_NAMESPACE;
  if (readResource(scope.decision, 'namespaces', undefined, namespace) === undefined) {
    scope.put('resources', resourceKey('namespaces', undefined, namespace), { name: namespace });
    scope.reviseConfig('namespaces', namespace, 'created', []);
  }
  const known = readEntity(scope.decision, namespace, name);
  if (known !== undefined) return known;
  const entity = entityWithDefaults({ entity_class: 'backend', metadata: { name, namespace } });
  scope.reviseConfig('entities', entityKey(namespace, name), 'created', []);
  return storeNewEntity(scope, entity, 'entity.created');
}
