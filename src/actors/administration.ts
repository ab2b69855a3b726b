import { randomUUID } from 'node:crypto';
import type { Check } from '../resources/check.ts';
import { configOf, type Entity, type EntityConfig, withOwnSubscription } from '../resources/entity.ts';
import { AlreadyExists, InvalidResource, NotFound } from '../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import type { ObjectMeta } from '../resources/object-meta.ts';
import { type EventAddress, entityKey, eventKey, resourceKey } from '../store/keyspace.ts';
import { readResource, type Resources } from '../store/resource-store.ts';
import type { Commands, WakeableActor, WritableKind } from './commands.ts';
import type { Decider } from './decide.ts';
import { countAsKeepalive } from './keepalives.ts';
import { KEEPALIVE, keyOf, mergeEvent, replaceSwitch } from './merge-event.ts';
import { storeNewEntity } from './proxy-entities.ts';
import { checkChanged } from './schedules.ts';
import type { Scope } from './scope.ts';
import { seedPipelineRole } from './seed.ts';

/** Kinds that keep a namespace from being deleted. */
const KINDS_IN_NAMESPACE = ['checks', 'entities', 'roles', 'rolebindings'] as const;
/** Made with each namespace, and deleted with it. */
const PIPELINE_ROLE = 'system:pipeline';

export interface AdministrationPorts {
  decider: Decider;
  /** Keys of the stored events of a check. */
  eventKeysOfCheck(namespace: string, check: string): Iterable<string>;
  wake(actor: WakeableActor, key: string): boolean;
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
      if (readResource(scope.decision, 'entities', namespace, name) !== undefined) throw alreadyExists();
      createEntity(scope, entity);
    });
  }

  async putEntity(entity: Entity, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      const { namespace = '', name = '' } = entity.metadata;
      assertNamespaceExists(scope, namespace);
      const stored = readResource(scope.decision, 'entities', namespace, name);
      if (stored === undefined) createEntity(scope, entity);
      else replaceEntity(scope, withOwnSubscription(entity), stored);
    });
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
      const { key } = addressOf(kind, resource);
      if (scope.get('resources', key) !== undefined) throw alreadyExists();
      writeResource(scope, kind, resource, user);
    });
  }

  async putResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      writeResource(scope, kind, resource, user);
    });
  }

  async deleteResource(kind: WritableKind, namespace: string | undefined, name: string, user: string): Promise<void> {
    await this.#decide(user, (scope) => {
      if (readResource(scope.decision, kind, namespace, name) === undefined) throw new NotFound('not found');
      if (kind === 'namespaces') deleteNamespace(scope, name);
      else this.#deleteCheck(scope, namespace ?? '', name);
    });
  }

  async wake(actor: WakeableActor, key: string, user: string): Promise<void> {
    if (!this.#ports.wake(actor, key)) throw new NotFound('not found');
    await this.#decide(user, (scope) => {
      scope.record({ actor, key, from: null, event: 'wake.requested', to: null });
    });
  }

  async #decide(user: string, run: (scope: Scope) => void): Promise<void> {
    await this.#ports.decider.decide({ cause: { user } }, run).durable;
  }

  async #storeEvent(event: Event, user: string, mustBeNew: boolean): Promise<void> {
    await this.#decide(user, (scope) => {
      assertNamespaceExists(scope, event.entity?.metadata.namespace ?? '');
      if (!hasCheck(event)) return;
      const by = createdBy(event, user);
      if (mustBeNew && scope.get('events', keyOf(event)) !== undefined) throw alreadyExists();
      if (event.check.metadata.name === KEEPALIVE) countAsKeepalive(scope, by);
      const cause = event.id === null ? { user } : { eventId: event.id };
      mergeEvent(scope, by, { trustsSentHistory: false, cause });
    });
  }

  #deleteCheck(scope: Scope, namespace: string, name: string): void {
    const previous = readResource(scope.decision, 'checks', namespace, name);
    scope.delete('resources', resourceKey('checks', namespace, name));
    checkChanged(scope, namespace, name, previous);
    for (const key of this.#ports.eventKeysOfCheck(namespace, name)) {
      const record = scope.get('events', key);
      if (record?.ttl === undefined) continue;
      if (!scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: 'check.deleted' });
      replaceSwitch(scope, key, record, undefined);
    }
    scope.reviseConfig('checks', entityKey(namespace, name), 'deleted', []);
  }
}

const alreadyExists = (): AlreadyExists => new AlreadyExists('resource already exists');

function assertNamespaceExists(scope: Scope, namespace: string): void {
  if (readResource(scope.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new NotFound(`the namespace ${namespace} does not exist`);
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

function deleteEvent(scope: Scope, key: string, event: 'event.deleted' | 'entity.deleted'): void {
  const record = scope.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: event });
  scope.delete('events', key);
  scope.record({ actor: 'check-state', key, from: record.state.state, event, to: null });
}

function endMonitoring(scope: Scope, key: string): void {
  const record = scope.get('entities', key);
  if (record === undefined || scope.isQuarantined('entity', key)) return;
  const sent = scope.send('entity', key, { type: 'keepalive.deleted' });
  if (sent?.snapshot !== undefined) scope.put('entities', key, { ...record, actor: sent.snapshot });
}

function createEntity(scope: Scope, entity: Entity): void {
  const { namespace = '', name = '' } = entity.metadata;
  storeNewEntity(scope, withOwnSubscription(entity), 'entity.created');
  scope.reviseConfig('entities', entityKey(namespace, name), 'created', []);
}

/** A proxy is replaced whole; what an agent reports of itself stays. */
function replaceEntity(scope: Scope, entity: Entity, stored: EntityConfig): void {
  const { namespace = '', name = '' } = entity.metadata;
  const key = entityKey(namespace, name);
  const config = configOf(entity);
  scope.put('resources', resourceKey('entities', namespace, name), config);
  const record = scope.get('entities', key);
  if (entity.entity_class === 'proxy' && record !== undefined) {
    const { system, last_seen, sensu_agent_version } = entity;
    scope.put('entities', key, { ...record, state: { system, last_seen, sensu_agent_version } });
  }
  scope.announce({ type: 'entity-config.changed', namespace, name, config });
  scope.reviseConfig('entities', key, 'updated', changedFields(stored, config));
}

/** Its events go even when it has no record of its own. False when it had none. */
function deleteEntity(scope: Scope, namespace: string, name: string): boolean {
  const key = entityKey(namespace, name);
  for (const event of scope.decision.keys('events', `${key}/`)) deleteEvent(scope, event, 'entity.deleted');
  if (readResource(scope.decision, 'entities', namespace, name) === undefined) return false;
  if (!scope.isQuarantined('entity', key)) scope.send('entity', key, { type: 'entity.deleted' });
  scope.delete('entities', key);
  scope.delete('resources', resourceKey('entities', namespace, name));
  scope.announce({ type: 'entity.deleted', namespace, name });
  scope.reviseConfig('entities', key, 'deleted', []);
  return true;
}

function addressOf<K extends WritableKind>(kind: K, resource: Resources[K]) {
  if ('name' in resource) return { namespace: undefined, name: resource.name, key: `namespaces/${resource.name}` };
  const { namespace = '', name = '' } = resource.metadata;
  return { namespace, name, key: resourceKey(kind, namespace, name) };
}

function writeResource<K extends WritableKind>(scope: Scope, kind: K, resource: Resources[K], user: string): void {
  const { namespace, name, key } = addressOf(kind, resource);
  const previous = scope.get('resources', key);
  if (namespace === undefined) {
    scope.put('resources', key, resource);
    if (previous === undefined) {
      seedPipelineRole(
        (role, ns, roleName, stored) => {
          scope.put('resources', resourceKey(role, ns, roleName), stored);
        },
        name,
        user,
      );
      scope.announce({ type: 'rbac.changed' });
    }
  } else {
    assertNamespaceExists(scope, namespace);
    writeCheck(scope, resource as Check, previous as Check | undefined, user);
  }
  const ledgerKey = namespace === undefined ? name : entityKey(namespace, name);
  const changed = previous === undefined ? [] : changedFields(previous, resource);
  scope.reviseConfig(kind, ledgerKey, previous === undefined ? 'created' : 'updated', changed);
}

function writeCheck(scope: Scope, check: Check, previous: Check | undefined, user: string): void {
  const { namespace = '', name = '' } = check.metadata;
  const metadata = { ...check.metadata, created_by: user };
  scope.put('resources', resourceKey('checks', namespace, name), { ...check, metadata });
  checkChanged(scope, namespace, name, previous);
}

function deleteNamespace(scope: Scope, name: string): void {
  for (const kind of KINDS_IN_NAMESPACE) {
    for (const key of scope.decision.keys('resources', `${kind}/${name}/`)) {
      if (!key.endsWith(`/${PIPELINE_ROLE}`)) throw new InvalidResource('resource is invalid: namespace is not empty');
    }
  }
  for (const key of scope.decision.keys('events', `${name}/`)) deleteEvent(scope, key, 'event.deleted');
  scope.delete('resources', resourceKey('roles', name, PIPELINE_ROLE));
  scope.delete('resources', resourceKey('rolebindings', name, PIPELINE_ROLE));
  scope.delete('resources', resourceKey('namespaces', undefined, name));
  scope.announce({ type: 'rbac.changed' });
  scope.announce({ type: 'namespace.deleted', namespace: name });
  scope.reviseConfig('namespaces', name, 'deleted', []);
}

/** The names of the members that differ: never their values, which may be secret. */
function changedFields(before: object, after: object): string[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
}
