import { configOf, type Entity, type EntityConfig, stateOf, withOwnSubscription } from '../resources/entity.ts';
import { isManagedByAgent } from '../resources/entity-manager.ts';
import { AlreadyExists, NotFound } from '../resources/errors.ts';
import { entityKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import { changedFields } from './changed-fields.ts';
import { asAgents } from './registration.ts';
import { assertNamespaceExists, deleteEvent } from './resource-changes.ts';
import type { Scope } from './scope.ts';
import { endSilencesOfEntity } from './silences.ts';
import { removeEntity, replaceConfig, storeNewEntity } from './stored-entities.ts';

/** An entity whose agent `isConnected` is written as class `agent`. @throws NotFound, AlreadyExists, EntityLimitReached */
export function createEntity(scope: Scope, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  assertNamespaceExists(scope, namespace);
  if (readResource(scope.decision, 'entities', namespace, name) !== undefined) throw new AlreadyExists();
  addEntity(scope, entity, isConnected);
}

/** Created, or replaced. @throws NotFound, AlreadyExists when an agent manages it, EntityLimitReached */
export function putEntity(scope: Scope, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  assertNamespaceExists(scope, namespace);
  const stored = readResource(scope.decision, 'entities', namespace, name);
  assertNotManaged(entity, stored);
  if (stored === undefined) addEntity(scope, entity, isConnected);
  else replaceEntity(scope, entity, stored, isConnected);
}

function addEntity(scope: Scope, entity: Entity, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  storeNewEntity(scope, isConnected ? asAgents(entity) : withOwnSubscription(entity), 'entity.created');
  scope.reviseConfig('entities', entityKey(namespace, name), 'created', []);
}

/** @throws AlreadyExists when an agent owns what it is to be, or what is stored */
function assertNotManaged(entity: EntityConfig, stored: EntityConfig | undefined): void {
  if (isManagedByAgent(entity) || (stored !== undefined && isManagedByAgent(stored))) {
    throw new AlreadyExists('entity is managed by its agent');
  }
}

/** A proxy is replaced whole; what an agent reports of itself stays. */
function replaceEntity(scope: Scope, entity: Entity, stored: EntityConfig, isConnected: boolean): void {
  const { namespace = '', name = '' } = entity.metadata;
  const key = entityKey(namespace, name);
  const record = scope.get('entities', key);
  const config = configOf(isConnected ? asAgents(entity) : withOwnSubscription(entity));
  if (entity.entity_class !== 'proxy' || record === undefined) {
    replaceConfig(scope, config, stored);
    return;
  }
  const state = stateOf(entity);
  scope.put('entities', key, { ...record, state });
  replaceConfig(scope, config, stored, changedFields(record.state, state));
}

/** Only the configuration half, under the name of who wrote it. @throws NotFound, AlreadyExists, and what `edit` throws */
export function editEntity(
  scope: Scope,
  { namespace, name }: { namespace: string; name: string },
  edit: (stored: EntityConfig) => EntityConfig,
  isConnected: boolean,
): EntityConfig {
  const stored = readResource(scope.decision, 'entities', namespace, name);
  if (stored === undefined) throw new NotFound('not found');
  const edited = edit(stored);
  assertNotManaged(edited, stored);
  const { created_by } = stored.metadata;
  const by = { ...edited, metadata: { ...edited.metadata, created_by } };
  const config = isConnected ? asAgents(by) : withOwnSubscription(by);
  replaceConfig(scope, config, stored);
  return config;
}

/** With its silences. Its events go even when it has no record of its own. False when it had none. */
export function deleteEntity(scope: Scope, namespace: string, name: string): boolean {
  const key = entityKey(namespace, name);
  for (const event of scope.decision.keys('events', `${key}/`)) deleteEvent(scope, event, 'entity.deleted');
  if (readResource(scope.decision, 'entities', namespace, name) === undefined) return false;
  if (!scope.isQuarantined('entity', key)) scope.send('entity', key, { type: 'entity.deleted' });
  removeEntity(scope, namespace, name);
  endSilencesOfEntity(scope, namespace, name, 'entity.deleted');
  return true;
}
