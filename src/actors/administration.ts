import { randomUUID } from 'node:crypto';
import type { AdhocRequest } from '../resources/adhoc-request.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import { configOf, type Entity, type EntityConfig, stateOf, withOwnSubscription } from '../resources/entity.ts';
import { isManagedByAgent } from '../resources/entity-manager.ts';
import { AlreadyExists, NotFound } from '../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import type { ObjectMeta } from '../resources/object-meta.ts';
import type { Silenced } from '../resources/silenced.ts';
import type { Tessen } from '../resources/tessen.ts';
import type { User } from '../resources/user.ts';
import type { RefreshOutcome, RefreshRequest, TokenSession } from '../rules/token-sessions.ts';
import { type EventAddress, entityKey, eventKey } from '../store/keyspace.ts';
import { readResource, type Resources } from '../store/resource-store.ts';
import { changedFields } from './changed-fields.ts';
import type {
  Commands,
  DescribedKind,
  Edit,
  ResourceAddress,
  UserEdit,
  WakeableActor,
  WritableKind,
} from './commands.ts';
import type { Decider } from './decide.ts';
import { countAsKeepalive } from './keepalives.ts';
import { KEEPALIVE, keyOf, mergeEvent } from './merge-event.ts';
import { asAgents } from './registration.ts';
import {
  assertNamespaceExists,
  type CheckEvents,
  createResource,
  deleteEvent,
  deleteDescribed,
  deleteNamespace,
  editResource,
  putResource,
  putTessen,
} from './resource-changes.ts';
import { executeCheck } from './schedules.ts';
import { publishMetrics } from './publish.ts';
import type { Scope } from './scope.ts';
import { createSilence, deleteSilence, putSilence } from './silence-changes.ts';
import { endSilencesOfEntity } from './silences.ts';
import { removeEntity, replaceConfig, storeNewEntity } from './stored-entities.ts';
import { endTokenSession, openTokenSession, refreshTokenSession } from './token-session-changes.ts';
import { createUser, editUser, putUser } from './user-changes.ts';

export interface AdministrationPorts extends CheckEvents {
  decider: Decider;
  configurationKinds: ConfigurationKinds;
  wake(actor: WakeableActor, key: string): boolean;
  /** Whether the entity's agent has a connection. */
  isConnected(namespace: string, entity: string): boolean;
}

/** What people change, each change one decision with the user as its cause. */
export class Administration implements Commands {
  readonly #ports: AdministrationPorts;

  constructor(ports: AdministrationPorts) {
    this.#ports = ports;
  }

  async putEvent(event: Event, user: string): Promise<void> {
    await this.#storeEvent(event, user, false);
  }

  async createEvent(event: Event, user: string): Promise<void> {
    await this.#storeEvent(event, user, true);
  }

  async deleteEvent({ namespace, entity, check }: EventAddress, user: string): Promise<void> {
    const key = eventKey(namespace, entity, check);
    await this.#decide(user, (scope) => {
      if (scope.get('events', key) === undefined) throw new NotFound('not found');
      deleteEvent(scope, key, 'event.deleted');
      if (check === KEEPALIVE) endMonitoring(scope, entityKey(namespace, entity));
    });
  }

  async createEntity(entity: Entity, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      const { namespace = '', name = '' } = entity.metadata;
      assertNamespaceExists(scope, namespace);
      if (readResource(scope.decision, 'entities', namespace, name) !== undefined) throw new AlreadyExists();
      createEntity(scope, entity, this.#isConnected(entity));
    });
  }

  async putEntity(entity: Entity, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      const { namespace = '', name = '' } = entity.metadata;
      assertNamespaceExists(scope, namespace);
      const stored = readResource(scope.decision, 'entities', namespace, name);
      assertNotManaged(entity, stored);
      const isConnected = this.#isConnected(entity);
      if (stored === undefined) createEntity(scope, entity, isConnected);
      else replaceEntity(scope, entity, stored, isConnected);
    });
  }

  async editEntity(
    namespace: string,
    name: string,
    edit: (stored: EntityConfig) => EntityConfig,
    user: string,
  ): Promise<EntityConfig> {
    const { result: edited, durable } = this.#ports.decider.decide({ cause: { user } }, (scope) => {
      return editEntity(scope, { namespace, name }, edit, this.#ports.isConnected(namespace, name));
    });
    await durable;
    return edited;
  }

  async deleteEntity(namespace: string, name: string, user: string): Promise<void> {
    const { result: existed, durable } = this.#ports.decider.decide({ cause: { user } }, (scope) => {
      return deleteEntity(scope, namespace, name);
    });
    await durable;
    if (!existed) throw new NotFound('not found');
  }

  async createResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      createResource(scope, kind, resource, user);
    });
  }

  async putResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      putResource(scope, kind, resource, user);
    });
  }

  async editResource<K extends DescribedKind>(
    kind: K,
    address: ResourceAddress,
    edit: Edit<K>,
    user: string,
  ): Promise<Resources[K]> {
    const { result: stored, durable } = this.#ports.decider.decide({ cause: { user } }, (scope) => {
      return editResource(scope, kind, address, edit);
    });
    await durable;
    return stored;
  }

  async deleteResource(kind: WritableKind, namespace: string | undefined, name: string, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      if (readResource(scope.decision, kind, namespace, name) === undefined) throw new NotFound('not found');
      if (kind === 'namespaces') deleteNamespace(scope, name, this.#ports.configurationKinds);
      else deleteDescribed(scope, kind, { namespace, name }, this.#ports);
    });
  }

  async createSilence(silenced: Silenced, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      createSilence(scope, silenced, user);
    });
  }

  async putSilence(silenced: Silenced, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      putSilence(scope, silenced, user);
    });
  }

  async deleteSilence(namespace: string, name: string, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      deleteSilence(scope, namespace, name);
    });
  }

  async putTessen(tessen: Tessen, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      putTessen(scope, tessen);
    });
  }

  async executeCheck(namespace: string, name: string, request: AdhocRequest, user: string): Promise<number> {
    const { result: issuedS, durable } = this.#ports.decider.decide(
      { cause: { user }, feedsHandlers: true },
      (scope) => {
        return executeCheck(scope, entityKey(namespace, name), request);
      },
    );
    await durable;
    return issuedS;
  }

  async createUser(created: User, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      createUser(scope, created);
    });
  }

  async putUser(replacing: User, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      putUser(scope, replacing);
    });
  }

  async editUser(username: string, edit: UserEdit, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      editUser(scope, username, edit);
    });
  }

  openTokenSession(username: string, verifiedHash: string, opened: TokenSession): Promise<boolean> {
    return this.#decideSession(username, (scope) => openTokenSession(scope, username, verifiedHash, opened));
  }

  refreshTokenSession(username: string, request: RefreshRequest): Promise<RefreshOutcome> {
    return this.#decideSession(username, (scope) => refreshTokenSession(scope, username, request));
  }

  async endTokenSession(username: string, session: string): Promise<void> {
    await this.#decideSession(username, (scope) => {
      endTokenSession(scope, username, session);
    });
  }

  async wake(actor: WakeableActor, key: string, user: string): Promise<void> {
    if (!this.#ports.wake(actor, key)) throw new NotFound('not found');
    await this.#decide(user, (scope) => {
      scope.record({ actor, key, from: null, event: 'wake.requested', to: null });
    });
  }

  #isConnected({ metadata: { namespace = '', name = '' } }: Entity): boolean {
    return this.#ports.isConnected(namespace, name);
  }

  /** Whoever wants to see why so much waits has to come in first. */
  async #decideSession<T>(user: string, run: (scope: Scope) => T): Promise<T> {
    const { result, durable } = this.#ports.decider.decide({ cause: { user }, unbounded: true }, run);
    await durable;
    return result;
  }

  async #decide(user: string, run: (scope: Scope) => void): Promise<void> {
    await this.#ports.decider.decide({ cause: { user } }, run).durable;
  }

  async #storeEvent(event: Event, user: string, mustBeNew: boolean): Promise<void> {
    const { durable } = this.#ports.decider.decide({ cause: { user }, feedsHandlers: true }, (scope) => {
      assertNamespaceExists(scope, event.entity?.metadata.namespace ?? '');
      if (!hasCheck(event)) {
        publishMetrics(scope, { ...event, id: event.id ?? randomUUID() });
        return;
      }
      const by = createdBy(event, user);
      if (mustBeNew && scope.get('events', keyOf(event)) !== undefined) throw new AlreadyExists();
      if (event.check.metadata.name === KEEPALIVE) countAsKeepalive(scope, by);
      const cause = event.id === null ? { user } : { eventId: event.id, user };
      mergeEvent(scope, by, { trustsSentHistory: false, cause });
    });
    await durable;
  }
}

/** As it is stored: with its writer, an id, and its namespace. */
function createdBy(event: CheckEvent, user: string): CheckEvent {
  const { entity, check, metadata, id } = event;
  const by = <T extends { metadata: ObjectMeta }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, created_by: user },
  });
  return {
    ...event,
    id: id ?? randomUUID(),
    entity: by(entity),
    check: by(check),
    metadata: { ...metadata, created_by: user, namespace: entity.metadata.namespace },
  };
}

function endMonitoring(scope: Scope, key: string): void {
  const record = scope.get('entities', key);
  if (record === undefined || scope.isQuarantined('entity', key)) return;
  const sent = scope.send('entity', key, { type: 'keepalive.deleted' });
  if (sent?.snapshot !== undefined) scope.put('entities', key, { ...record, actor: sent.snapshot });
}

function createEntity(scope: Scope, entity: Entity, isConnected: boolean): void {
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
function editEntity(
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
function deleteEntity(scope: Scope, namespace: string, name: string): boolean {
  const key = entityKey(namespace, name);
  for (const event of scope.decision.keys('events', `${key}/`)) deleteEvent(scope, event, 'entity.deleted');
  if (readResource(scope.decision, 'entities', namespace, name) === undefined) return false;
  if (!scope.isQuarantined('entity', key)) scope.send('entity', key, { type: 'entity.deleted' });
  removeEntity(scope, namespace, name);
  endSilencesOfEntity(scope, namespace, name, 'entity.deleted');
  return true;
}
