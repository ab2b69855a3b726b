import { type Entity, entityWithDefaults } from '../resources/entity.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import { readEntity } from '../store/entity-store.ts';
import { entityKey, resourceKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import type { Scope } from './scope.ts';
import { storeNewEntity } from './stored-entities.ts';

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
