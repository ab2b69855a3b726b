import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import { AlreadyExists, InvalidResource, NotFound } from '../resources/errors.ts';
import { isName } from '../resources/names.ts';
import type { Namespace } from '../resources/namespace.ts';
import type { ObjectMeta } from '../resources/object-meta.ts';
import type { Tessen } from '../resources/tessen.ts';
import { entityKey, resourceKey, TESSEN_KEY } from '../store/keyspace.ts';
import { readResource, readTessen, type Resources } from '../store/resource-store.ts';
import { changedFields } from './changed-fields.ts';
import type { DescribedKind, Edit, ResourceAddress, WritableKind } from './commands.ts';
import { changeLeavingAdministrator } from './last-administrator.ts';
import { replaceSwitch } from './merge-event.ts';
import { checkChanged } from './schedules.ts';
import type { Scope } from './scope.ts';
import { seedPipelineRole } from './seed.ts';

/** Kinds that keep a namespace from being deleted, beside those that are written as they are. */
const KINDS_IN_NAMESPACE = ['silenced', 'entities'];
/** Who may do what is decided from these. */
const RBAC_KINDS = new Set<DescribedKind>(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);
/** Made with each namespace, and deleted with it. */
const PIPELINE_ROLE = 'system:pipeline';
/** There is one of that name of each. */
const PIPELINE_KINDS = ['roles', 'rolebindings'] as const;

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

/** @throws NotFound when the namespace does not exist, InvalidResource when the user of a key does not, or no administrator would be left */
export function putResource<K extends WritableKind>(scope: Scope, kind: K, resource: Resources[K], user: string): void {
  if ('metadata' in resource) {
    putDescribed(scope, kind as DescribedKind, withMetadata<Resources[DescribedKind]>(resource, { created_by: user }));
  } else putNamespace(scope, resource, user);
}

/** What is stored then. @throws NotFound, and what `edit` throws */
export function editResource<K extends DescribedKind>(
  scope: Scope,
  kind: K,
  { namespace, name }: ResourceAddress,
  edit: Edit<K>,
): Resources[K] {
  const stored = readResource(scope.decision, kind, namespace, name);
  if (stored === undefined) throw new NotFound('not found');
  const { created_by } = stored.metadata;
  const edited = withMetadata(edit(stored), { namespace, name, created_by });
  putDescribed(scope, kind, edited);
  return edited;
}

const withMetadata = <T extends { metadata: ObjectMeta }>(resource: T, changes: Partial<ObjectMeta>): T => ({
  ...resource,
  metadata: { ...resource.metadata, ...changes },
});

function addressOf(resource: Resources[WritableKind]): ResourceAddress {
  if (!('metadata' in resource)) return { namespace: undefined, name: resource.name };
  const { namespace, name = '' } = resource.metadata;
  return { namespace, name };
}

const ledgerKey = ({ namespace, name }: ResourceAddress): string =>
  namespace === undefined ? name : entityKey(namespace, name);

function putNamespace(scope: Scope, namespace: Namespace, user: string): void {
  const { name } = namespace;
  const previous = readResource(scope.decision, 'namespaces', undefined, name);
  if (previous === undefined) {
    addNamespace(scope, namespace, user);
    return;
  }
  scope.put('resources', resourceKey('namespaces', undefined, name), namespace);
  revise(scope, 'namespaces', name, previous, namespace);
}

/** One that does not exist, with the role by which its event filters read events; each is on record. */
export function addNamespace(scope: Scope, namespace: Namespace, createdBy?: string): void {
  scope.put('resources', resourceKey('namespaces', undefined, namespace.name), namespace);
  scope.reviseConfig('namespaces', namespace.name, 'created', []);
  seedPipelineRole(
    (kind, home, name, stored) => {
      scope.put('resources', resourceKey(kind, home, name), stored);
      scope.reviseConfig(kind, ledgerKey({ namespace: home, name }), 'created', []);
    },
    namespace.name,
    createdBy,
  );
  scope.announce({ type: 'rbac.changed' });
}

function putDescribed(scope: Scope, kind: DescribedKind, resource: Resources[DescribedKind]): void {
  const { namespace, name } = addressOf(resource);
  if (namespace !== undefined) assertNamespaceExists(scope, namespace);
  if ('username' in resource) assertUserExists(scope, resource.username);
  const previous = readResource(scope.decision, kind, namespace, name);
  const previousCheck = kind === 'checks' ? readResource(scope.decision, 'checks', namespace, name) : undefined;
  changeLeavingAdministrator(scope.decision, kind, name, () => {
    scope.put('resources', resourceKey(kind, namespace, name), resource);
  });
  if (kind === 'checks') checkChanged(scope, namespace ?? '', name, previousCheck);
  if (RBAC_KINDS.has(kind)) scope.announce({ type: 'rbac.changed' });
  revise(scope, kind, ledgerKey({ namespace, name }), previous, resource);
}

/** One who is disabled does. @throws InvalidResource */
function assertUserExists(scope: Scope, username: string): void {
  if (!isName(username) || readResource(scope.decision, 'users', undefined, username) === undefined) {
    throw new InvalidResource('user does not exist');
  }
}

function revise(scope: Scope, kind: WritableKind, key: string, previous: object | undefined, stored: object): void {
  if (previous === undefined) scope.reviseConfig(kind, key, 'created', []);
  else scope.reviseConfig(kind, key, 'updated', changedFields(previous, stored));
}

export function putTessen(scope: Scope, tessen: Tessen): void {
  const changed = changedFields(readTessen(scope.decision), tessen);
  scope.put('resources', TESSEN_KEY, tessen);
  scope.reviseConfig(TESSEN_KEY, TESSEN_KEY, 'updated', changed);
}

/** It is there. @throws InvalidResource when no administrator would be left */
export function deleteDescribed(
  scope: Scope,
  kind: DescribedKind,
  address: ResourceAddress,
  events: CheckEvents,
): void {
  const { namespace, name } = address;
  changeLeavingAdministrator(scope.decision, kind, name, () => {
    scope.delete('resources', resourceKey(kind, namespace, name));
  });
  if (kind === 'checks') {
    checkChanged(scope, namespace ?? '', name, undefined);
    for (const key of events.eventKeysOfCheck(namespace ?? '', name)) disarmSwitch(scope, key);
  }
  if (RBAC_KINDS.has(kind)) scope.announce({ type: 'rbac.changed' });
  scope.reviseConfig(kind, ledgerKey(address), 'deleted', []);
}

function disarmSwitch(scope: Scope, key: string): void {
  const record = scope.get('events', key);
  if (record?.ttl === undefined) return;
  if (!scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: 'check.deleted' });
  replaceSwitch(scope, key, record, undefined);
}

/** With its events, its role and its binding. @throws InvalidResource when anything else is in it */
export function deleteNamespace(scope: Scope, name: string, kinds: ConfigurationKinds): void {
  const own = PIPELINE_KINDS.map((kind) => resourceKey(kind, name, PIPELINE_ROLE));
  for (const kind of [...wordsInNamespaces(kinds), ...KINDS_IN_NAMESPACE]) {
    for (const key of scope.decision.keys('resources', `${kind}/${name}/`)) {
      if (!own.includes(key)) throw new InvalidResource('resource is invalid: namespace is not empty');
    }
  }
  for (const key of scope.decision.keys('events', `${name}/`)) deleteEvent(scope, key, 'event.deleted');
  for (const kind of PIPELINE_KINDS) deletePipelineResource(scope, kind, name);
  scope.delete('resources', resourceKey('namespaces', undefined, name));
  scope.announce({ type: 'rbac.changed' });
  scope.announce({ type: 'namespace.deleted', namespace: name });
  scope.reviseConfig('namespaces', name, 'deleted', []);
}

/** Somebody may have deleted it before. */
function deletePipelineResource(scope: Scope, kind: (typeof PIPELINE_KINDS)[number], namespace: string): void {
  const key = resourceKey(kind, namespace, PIPELINE_ROLE);
  if (scope.get('resources', key) === undefined) return;
  scope.delete('resources', key);
  scope.reviseConfig(kind, ledgerKey({ namespace, name: PIPELINE_ROLE }), 'deleted', []);
}

const wordsInNamespaces = (kinds: ConfigurationKinds): string[] =>
  Object.entries(kinds).flatMap(([word, { scope }]) => (scope === 'namespace' ? [word] : []));

/** With its dead man's switch. */
export function deleteEvent(scope: Scope, key: string, event: 'event.deleted' | 'entity.deleted'): void {
  const record = scope.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !scope.isQuarantined('check-ttl', key)) scope.send('check-ttl', key, { type: event });
  scope.delete('events', key);
  scope.record({ actor: 'check-state', key, from: record.state.state, event, to: null });
}
