import { type Entity, entityWithDefaults, type System } from '../resources/entity.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import { readEntity } from '../store/entity-store.ts';
import { entityKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import { exemptOwnEntity } from './entity-limit.ts';
import { addNamespace } from './resource-changes.ts';
import type { Scope } from './scope.ts';
import { storeNewEntity } from './stored-entities.ts';

/** The entity of the backend itself, made with its namespace where somebody has deleted it. */
export function ensureOwnEntity(scope: Scope, name: string): Entity {
  const namespace = SYSTEM_NAMESPACE;
  if (readResource(scope.decision, 'namespaces', undefined, namespace) === undefined) {
    addNamespace(scope, { name: namespace });
  }
  exemptOwnEntity(scope, name);
  const known = readEntity(scope.decision, namespace, name);
  if (known !== undefined) return known;
  const entity = entityWithDefaults({ entity_class: 'backend', metadata: { name, namespace } });
  scope.reviseConfig('entities', entityKey(namespace, name), 'created', []);
  return storeNewEntity(scope, entity, 'entity.created');
}

/** What its machine says of itself, which may be another one than before. */
export function describeOwnEntity(scope: Scope, name: string, system: System): void {
  ensureOwnEntity(scope, name);
  const key = entityKey(SYSTEM_NAMESPACE, name);
  const record = scope.get('entities', key);
  if (record !== undefined) scope.put('entities', key, { ...record, state: { ...record.state, system } });
}
