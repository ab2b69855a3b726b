import { AlreadyExists, InvalidResource, NotFound } from '../resources/errors.ts';
import type { Namespace } from '../resources/namespace.ts';
import { entityKey, resourceKey } from '../store/keyspace.ts';
import { readResource, type Resources } from '../store/resource-store.ts';
import { changedFields } from './changed-fields.ts';
import type { NamespacedKind, WritableKind } from './commands.ts';
import { replaceSwitch } from './merge-event.ts';
import { checkChanged } from './schedules.ts';
import type { Scope } from './scope.ts';
import { seedPipelineRole } from './seed.ts';

/** Kinds that keep a namespace from being deleted. */
const KINDS_IN_NAMESPACE = ['checks', 'handlers', 'silenced', 'entities', 'roles', 'rolebindings'] as const;
/** Made with each namespace, and deleted with it. */
const PIPELINE_ROLE = 'system:pipeline';

export interface CheckEvents {
  /** Keys of the stored events of a check. */
  eventKeysOfCheck(namespace: string, check: string): Iterable<string>;
}

/** @throws NotFound */
export function assertNamespaceExists(scope: Scope, namespace: string): void {
  if (readResource(scope.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new NotFound(`the namespace ${namespace} does not exist`);
  }
}

/** @throws AlreadyExists, NotFound */
export function createResource<K extends WritableKind>(
  scope: Scope,
  kind: K,
  resource: Resources[K],
  user: string,
): void {
  const { namespace, name } = addressOf(resource);
  if (readResource(scope.decision, kind, namespace, name) !== undefined) throw new AlreadyExists();
  putResource(scope, kind, resource, user);
}

/** @throws NotFound */
export function putResource<K extends WritableKind>(scope: Scope, kind: K, resource: Resources[K], user: string): void {
  if ('metadata' in resource) putNamespaced(scope, kind as NamespacedKind, resource, user);
  else putNamespace(scope, resource, user);
}

function addressOf(resource: Resources[WritableKind]): { namespace: string | undefined; name: string } {
  if (!('metadata' in resource)) return { namespace: undefined, name: resource.name };
  const { namespace = '', name = '' } = resource.metadata;
  return { namespace, name };
}

function putNamespace(scope: Scope, namespace: Namespace, user: string): void {
  const { name } = namespace;
  const previous = readResource(scope.decision, 'namespaces', undefined, name);
  scope.put('resources', resourceKey('namespaces', undefined, name), namespace);
  if (previous === undefined) {
    seedPipelineRole(
      (kind, ns, roleName, stored) => {
        scope.put('resources', resourceKey(kind, ns, roleName), stored);
      },
      name,
      user,
    );
    scope.announce({ type: 'rbac.changed' });
  }
  revise(scope, 'namespaces', name, previous, namespace);
}

function putNamespaced(scope: Scope, kind: NamespacedKind, resource: Resources[NamespacedKind], user: string): void {
  const { namespace = '', name = '' } = resource.metadata;
  assertNamespaceExists(scope, namespace);
  const previous = readResource(scope.decision, kind, namespace, name);
  const stored = { ...resource, metadata: { ...resource.metadata, created_by: user } };
  const previousCheck = kind === 'checks' ? readResource(scope.decision, 'checks', namespace, name) : undefined;
  scope.put('resources', resourceKey(kind, namespace, name), stored);
  if (kind === 'checks') checkChanged(scope, namespace, name, previousCheck);
  revise(scope, kind, entityKey(namespace, name), previous, stored);
}

function revise(scope: Scope, kind: WritableKind, key: string, previous: object | undefined, stored: object): void {
  if (previous === undefined) scope.reviseConfig(kind, key, 'created', []);
  else scope.reviseConfig(kind, key, 'updated', changedFields(previous, stored));
}

/** It is there. */
export function deleteNamespaced(
  scope: Scope,
  kind: NamespacedKind,
  namespace: string,
  name: string,
  events: CheckEvents,
): void {
  scope.delete('resources', resourceKey(kind, namespace, name));
  if (kind === 'checks') {
    checkChanged(scope, namespace, name, undefined);
    for (const key of events.eventKeysOfCheck(namespace, name)) disarmSwitch(scope, key);
  }
  scope.reviseConfig(kind, entityKey(namespace, name), 'deleted', []);
}

function disarmSwitch(scope: Scope, key: string): void {
  const record = scope.get('events', key);
  if (record?.ttl === undefined) return;
  if (!scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: 'check.deleted' });
  replaceSwitch(scope, key, record, undefined);
}

/** With its events, its role and its binding. @throws InvalidResource when anything else is in it */
export function deleteNamespace(scope: Scope, name: string): void {
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

/** With its dead man's switch. */
export function deleteEvent(scope: Scope, key: string, event: 'event.deleted' | 'entity.deleted'): void {
  const record = scope.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: event });
  scope.delete('events', key);
  scope.record({ actor: 'check-state', key, from: record.state.state, event, to: null });
}
