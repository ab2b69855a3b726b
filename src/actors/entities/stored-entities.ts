import { configOf, type Entity, type EntityConfig, stateOf } from '../../resources/entity.ts';
import { entityKey, resourceKey } from '../../store/keyspace.ts';
import { changedFields } from '../core/changed-fields.ts';
import { countNewEntity, countRemovedEntity } from './entity-limit.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/**
 * Creates an entity, its configuration and its state, and starts its actor. Every entity is created here. `event` is the ledger
 * event of the creation. @throws EntityLimitReached
 */
export function storeNewEntity(ctx: DecisionContext, entity: Entity, event: string): Entity {
  const { namespace = '', name = '' } = entity.metadata;
  countNewEntity(ctx, namespace, name);
  const key = entityKey(namespace, name);
  const { snapshot } = ctx.create('entity', key, { key }, event);
  if (snapshot === undefined) throw new Error('a new entity cannot have ended');
  ctx.put('entities', key, { state: stateOf(entity), actor: snapshot });
  const config = configOf(entity);
  ctx.put('resources', resourceKey('entities', namespace, name), config);
  ctx.announce({ type: 'entity-config.changed', namespace, name, config });
  return entity;
}

/** Replaces the configuration. `changedState` names the fields of the state that the same decision changed. */
export function replaceConfig(
  ctx: DecisionContext,
  config: EntityConfig,
  previous: EntityConfig,
  changedState: readonly string[] = [],
): void {
  const { namespace = '', name = '' } = config.metadata;
  ctx.put('resources', resourceKey('entities', namespace, name), config);
  ctx.announce({ type: 'entity-config.changed', namespace, name, config });
  const changed = [...changedFields(previous, config), ...changedState];
  ctx.reviseConfig('entities', entityKey(namespace, name), 'updated', changed);
}

/** Deletes the configuration and the state of an entity. Every entity is deleted here; the caller handles its actor, events and silences. */
export function removeEntity(ctx: DecisionContext, namespace: string, name: string): void {
  countRemovedEntity(ctx, namespace, name);
  const key = entityKey(namespace, name);
  ctx.delete('entities', key);
  ctx.delete('resources', resourceKey('entities', namespace, name));
  ctx.announce({ type: 'entity.deleted', namespace, name });
  ctx.reviseConfig('entities', key, 'deleted', []);
}
