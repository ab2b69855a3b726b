import { configOf, type Entity, type EntityConfig, stateOf } from '../resources/entity.ts';
import { entityKey, resourceKey } from '../store/keyspace.ts';
import { changedFields } from './changed-fields.ts';
import { countNewEntity, countRemovedEntity } from './entity-limit.ts';
import type { Scope } from './scope.ts';

/**
 * Writes both halves of an entity that does not exist and starts its actor: the one way an entity comes to be. `event` names
 * what made it, for the ledger. @throws EntityLimitReached
 */
export function storeNewEntity(scope: Scope, entity: Entity, event: string): Entity {
  const { namespace = '', name = '' } = entity.metadata;
  countNewEntity(scope, namespace, name);
  const key = entityKey(namespace, name);
  const { snapshot } = scope.create('entity', key, { key }, event);
  if (snapshot === undefined) throw new Error('a new entity cannot have ended');
  scope.put('entities', key, { state: stateOf(entity), actor: snapshot });
  const config = configOf(entity);
  scope.put('resources', resourceKey('entities', namespace, name), config);
  scope.announce({ type: 'entity-config.changed', namespace, name, config });
  return entity;
}

/** Replaces the configuration half; `changedState` names what was changed of the other one beside it. */
export function replaceConfig(
  scope: Scope,
  config: EntityConfig,
  previous: EntityConfig,
  changedState: readonly string[] = [],
): void {
  const { namespace = '', name = '' } = config.metadata;
  scope.put('resources', resourceKey('entities', namespace, name), config);
  scope.announce({ type: 'entity-config.changed', namespace, name, config });
  const changed = [...changedFields(previous, config), ...changedState];
  scope.reviseConfig('entities', entityKey(namespace, name), 'updated', changed);
}

/** Deletes both halves of an entity that exists: the one way an entity goes. Its actor, events and silences are the caller's. */
export function removeEntity(scope: Scope, namespace: string, name: string): void {
  countRemovedEntity(scope, namespace, name);
  const key = entityKey(namespace, name);
  scope.delete('entities', key);
  scope.delete('resources', resourceKey('entities', namespace, name));
  scope.announce({ type: 'entity.deleted', namespace, name });
  scope.reviseConfig('entities', key, 'deleted', []);
}
