import { stateName } from '../../machines/actor-snapshot.ts';
import { configOf, type Entity, type EntityConfig, stateOf } from '../../resources/entity.ts';
import { entityKey, resourceKey } from '../../store/encoding/keyspace.ts';
import { entityGroup } from '../../store/commit/object-groups.ts';
import type { EntityRecord } from '../../store/records/records.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { acceptEntity, assertNotRefused } from './refused-entities.ts';
import { countNewEntity, countRemovedEntity } from './entity-limit.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The ledger event of a creation by a user. */
const CREATED_BY_API = 'entity.created';

/**
 * Creates an entity, its configuration and its state, and starts its actor. Every entity is created here. `event` is the ledger
 * event of the creation. @throws EntityLimitReached, EntityRefused when a result or a keepalive creates it
 */
export function storeNewEntity(ctx: DecisionContext, entity: Entity, event: string): Entity {
  const { namespace = '', name = '' } = entity.metadata;
  if (event === CREATED_BY_API) acceptEntity(ctx, namespace, name);
  else assertNotRefused(ctx, namespace, name);
  countNewEntity(ctx, namespace, name);
  const key = entityKey(namespace, name);
  const { snapshot } = ctx.create('entity', key, { key }, event);
  if (snapshot === undefined) throw new Error('a new entity cannot have ended');
  const record = { state: stateOf(entity), actor: snapshot };
  ctx.put('entities', key, record);
  const config = configOf(entity);
  ctx.decision.tally.move('entities', undefined, entityGroup(namespace, config.entity_class, record));
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
  countClass(ctx, config, previous);
  ctx.announce({ type: 'entity-config.changed', namespace, name, config });
  const changed = [...changedFields(previous, config), ...changedState];
  ctx.reviseConfig('entities', entityKey(namespace, name), 'updated', changed);
}

/** Deletes the configuration and the state of an entity. Every entity is deleted here; the caller handles its actor, events and silences. */
export function removeEntity(ctx: DecisionContext, namespace: string, name: string): void {
  countRemovedEntity(ctx, namespace, name);
  const key = entityKey(namespace, name);
  const record = ctx.get('entities', key);
  if (record !== undefined) {
    ctx.decision.tally.move('entities', entityGroup(namespace, classOf(ctx, namespace, name), record), undefined);
  }
  ctx.delete('entities', key);
  ctx.delete('resources', resourceKey('entities', namespace, name));
  ctx.announce({ type: 'entity.deleted', namespace, name });
  ctx.reviseConfig('entities', key, 'deleted', []);
}

/** Stores the snapshot of an entity's actor, and what its agent reports. `previous` is the stored record, if there is one. */
export function putEntityRecord(
  ctx: DecisionContext,
  key: string,
  record: EntityRecord,
  previous: EntityRecord | undefined,
): void {
  ctx.put('entities', key, record);
  if (previous !== undefined && stateName(previous.actor.value) === stateName(record.actor.value)) return;
  const slash = key.indexOf('/');
  const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
  const entityClass = classOf(ctx, namespace, name);
  ctx.decision.tally.move(
    'entities',
    previous && entityGroup(namespace, entityClass, previous),
    entityGroup(namespace, entityClass, record),
  );
}

const classOf = (ctx: DecisionContext, namespace: string, name: string): string =>
  readResource(ctx.decision, 'entities', namespace, name)?.entity_class ?? '';

function countClass(ctx: DecisionContext, config: EntityConfig, previous: EntityConfig): void {
  if (config.entity_class === previous.entity_class) return;
  const { namespace = '', name = '' } = config.metadata;
  const record = ctx.get('entities', entityKey(namespace, name));
  if (record === undefined) return;
  ctx.decision.tally.move(
    'entities',
    entityGroup(namespace, previous.entity_class, record),
    entityGroup(namespace, config.entity_class, record),
  );
}
