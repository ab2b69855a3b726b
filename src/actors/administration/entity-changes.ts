import { configOf, type Entity, type EntityConfig, stateOf, withOwnSubscription } from '../../resources/entity.ts';
import { isManagedByAgent, managedByAgent } from '../../resources/entity-manager.ts';
import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { asAgents } from '../agents/registration.ts';
import { deleteEvents } from '../events/deletions.ts';
import { assertNamespaceExists } from './resource-changes.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endSilencesOfEntity } from '../events/silences.ts';
import { removeEntity, replaceConfig, storeNewEntity } from '../entities/stored-entities.ts';

/** When the agent `isConnected`, the entity gets the class `agent`. @throws NotFound, AlreadyExists, EntityLimitReached */
export function createEntity(ctx: DecisionContext, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  assertNamespaceExists(ctx, namespace);
  if (readResource(ctx.decision, 'entities', namespace, name) !== undefined) throw new AlreadyExists();
  addEntity(ctx, entity, isConnected);
}

/** Creates or replaces an entity. @throws NotFound, AlreadyExists when an agent manages it, EntityLimitReached */
export function putEntity(ctx: DecisionContext, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  assertNamespaceExists(ctx, namespace);
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  assertNotManaged(entity, stored);
  if (stored === undefined) addEntity(ctx, entity, isConnected);
  else replaceEntity(ctx, entity, stored, isConnected);
}

function addEntity(ctx: DecisionContext, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  storeNewEntity(ctx, isConnected ? asAgents(entity) : withOwnSubscription(entity), 'entity.created');
  ctx.reviseConfig('entities', entityKey(namespace, name), 'created', []);
}

/** @throws AlreadyExists when an agent manages the new or the stored entity */
function assertNotManaged(entity: EntityConfig, stored: EntityConfig | undefined): void {
  if (isManagedByAgent(entity) || (stored !== undefined && isManagedByAgent(stored))) {
    throw managedByAgent();
  }
}

/** Replaces a proxy entity completely; keeps what an agent reports. */
function replaceEntity(ctx: DecisionContext, entity: Entity, stored: EntityConfig, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  const key = entityKey(namespace, name);
  const record = ctx.get('entities', key);
  const config = configOf(isConnected ? asAgents(entity) : withOwnSubscription(entity));
  if (entity.entity_class !== 'proxy' || record === undefined) {
    replaceConfig(ctx, config, stored);
    return;
  }
  const state = stateOf(entity);
  ctx.put('entities', key, { ...record, state });
  replaceConfig(ctx, config, stored, changedFields(record.state, state));
}

/** Replaces the configuration only, and keeps its author. @throws NotFound, AlreadyExists, and what `edit` throws */
export function editEntity(
  ctx: DecisionContext,
  { namespace, name }: { namespace: string; name: string },
  edit: (stored: EntityConfig) => EntityConfig,
  isConnected: boolean,
): EntityConfig {
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  if (stored === undefined) throw new NotFound('not found');
  const edited = edit(stored);
  assertNotManaged(edited, stored);
  const { created_by } = stored.metadata;
  const by = { ...edited, metadata: { ...edited.metadata, created_by } };
  const config = isConnected ? asAgents(by) : withOwnSubscription(by);
  replaceConfig(ctx, config, stored);
  return config;
}

/** Deletes its silences and events as well; the events even when there is no such entity. Returns false in that case. */
export function deleteEntity(ctx: DecisionContext, namespace: string, name: string): boolean {
  const key = entityKey(namespace, name);
  deleteEvents(ctx, `${key}/`, 'entity.deleted');
  if (readResource(ctx.decision, 'entities', namespace, name) === undefined) return false;
  if (!ctx.isQuarantined('entity', key)) ctx.send('entity', key, { type: 'entity.deleted' });
  removeEntity(ctx, namespace, name);
  endSilencesOfEntity(ctx, namespace, name, 'entity.deleted');
  return true;
}
