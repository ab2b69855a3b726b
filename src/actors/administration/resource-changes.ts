import type { ConfigurationKinds, ConfigurationKindName } from '../../resources/configuration-kinds.ts';
import { AlreadyExists, InvalidResource, NotFound, TooLarge } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import type { Namespace } from '../../resources/namespace.ts';
import type { ObjectMeta } from '../../resources/object-meta.ts';
import type { Tessen } from '../../resources/tessen.ts';
import {
  entityKey,
  refusedEntityKey,
  type ResourceKind,
  resourceKey,
  stashKey,
  TESSEN_KEY,
} from '../../store/encoding/keyspace.ts';
import { readResource, readTessen, type Resources } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { recordedRights } from '../core/recorded-rights.ts';
import { changeLeavingAdministrator } from './last-administrator.ts';
import { DELETED_PER_STEP } from '../events/begin-deletion.ts';
import { deleteEvents, disarmTtls } from '../events/deletions.ts';
import { hideNotifications } from '../events/notification-records.ts';
import { checkChanged } from '../schedules/schedules.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { createPipelineRole } from './initial-resources.ts';

/** Kinds of resources with metadata that are stored as they are sent. Entities and silences have commands of their own. */
export type DescribedKind = ConfigurationKindName | 'apikeys';
/** Users have separate commands. */
export type WritableKind = DescribedKind | 'namespaces';

export interface ResourceAddress {
  /** Undefined for cluster-wide kinds. */
  namespace: string | undefined;
  name: string;
}

/** Makes the new resource from the stored one, which it leaves unchanged. */
export type Edit<K extends DescribedKind> = (stored: Resources[K]) => Resources[K];

/** Kinds, besides the configuration kinds, that keep a namespace from being deleted. */
const KINDS_IN_NAMESPACE = ['silenced', 'entities'];
/** The kinds from which rights are derived. */
const RBAC_KINDS = new Set<DescribedKind>(['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']);
/** The role and the binding that are created and deleted with each namespace. */
const PIPELINE_ROLE = 'system:pipeline';
const PIPELINE_KINDS = ['roles', 'rolebindings'] as const;

export interface CheckEvents {
  /** Returns the keys of the stored events of a check; undefined when there are more than `limit`. */
  eventKeysOfCheck(namespace: string, check: string, limit: number): Iterable<string> | undefined;
}

/** @throws NotFound */
export function assertNamespaceExists(ctx: DecisionContext, namespace: string): void {
  if (readResource(ctx.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new NotFound(`the namespace ${namespace} does not exist`);
  }
}

/** @throws AlreadyExists, NotFound */
export function createResource<K extends WritableKind>(
  ctx: DecisionContext,
  kind: K,
  resource: Resources[K],
  user: string,
): void {
  const { namespace, name } = addressOf(resource);
  if (readResource(ctx.decision, kind, namespace, name) !== undefined) throw new AlreadyExists();
  putResource(ctx, kind, resource, user);
}

/** @throws NotFound when the namespace does not exist, InvalidResource when the user of a key does not, or no administrator would be left */
export function putResource<K extends WritableKind>(
  ctx: DecisionContext,
  kind: K,
  resource: Resources[K],
  user: string,
): void {
  if ('metadata' in resource) {
    putDescribed(ctx, kind as DescribedKind, withMetadata<Resources[DescribedKind]>(resource, { created_by: user }));
  } else putNamespace(ctx, resource, user);
}

/** Returns what is stored then. @throws NotFound, and what `edit` throws */
export function editResource<K extends DescribedKind>(
  ctx: DecisionContext,
  kind: K,
  { namespace, name }: ResourceAddress,
  edit: Edit<K>,
): Resources[K] {
  const stored = readResource(ctx.decision, kind, namespace, name);
  if (stored === undefined) throw new NotFound('not found');
  const { created_by } = stored.metadata;
  const edited = withMetadata(edit(stored), { namespace, name, created_by });
  putDescribed(ctx, kind, edited);
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

function putNamespace(ctx: DecisionContext, namespace: Namespace, user: string): void {
  const { name } = namespace;
  const previous = readResource(ctx.decision, 'namespaces', undefined, name);
  if (previous === undefined) {
    addNamespace(ctx, namespace, user);
    return;
  }
  ctx.put('resources', resourceKey('namespaces', undefined, name), namespace);
  revise(ctx, 'namespaces', name, previous, namespace);
}

/** Creates a namespace, and the role with which its event filters read events. The ledger records each. */
export function addNamespace(ctx: DecisionContext, namespace: Namespace, createdBy?: string): void {
  ctx.put('resources', resourceKey('namespaces', undefined, namespace.name), namespace);
  ctx.reviseConfig('namespaces', namespace.name, 'created', []);
  createPipelineRole(
    (kind, home, name, stored) => {
      ctx.put('resources', resourceKey(kind, home, name), stored);
      revise(ctx, kind, ledgerKey({ namespace: home, name }), undefined, stored);
    },
    namespace.name,
    createdBy,
  );
  ctx.announce({ type: 'rbac.changed' });
}

function putDescribed(ctx: DecisionContext, kind: DescribedKind, resource: Resources[DescribedKind]): void {
  const { namespace, name } = addressOf(resource);
  assertFits(resource, ctx.settings.maxValueBytes);
  if (namespace !== undefined) assertNamespaceExists(ctx, namespace);
  if ('username' in resource) assertUserExists(ctx, resource.username);
  const previous = readResource(ctx.decision, kind, namespace, name);
  const previousCheck = kind === 'checks' ? readResource(ctx.decision, 'checks', namespace, name) : undefined;
  changeLeavingAdministrator(ctx.decision, kind, name, () => {
    ctx.put('resources', resourceKey(kind, namespace, name), resource);
  });
  if (kind === 'checks') checkChanged(ctx, namespace ?? '', name, previousCheck);
  if (RBAC_KINDS.has(kind)) ctx.announce({ type: 'rbac.changed' });
  revise(ctx, kind, ledgerKey({ namespace, name }), previous, resource);
}

/** @throws TooLarge */
function assertFits(resource: object, maxBytes: number): void {
  if (maxBytes === 0) return;
  const bytes = Buffer.byteLength(JSON.stringify(resource));
  if (bytes <= maxBytes) return;
  throw new TooLarge(`the resource has ${bytes} bytes, more than ${maxBytes} (--store-max-value-bytes)`);
}

/** A disabled user exists. @throws InvalidResource */
function assertUserExists(ctx: DecisionContext, username: string): void {
  if (!isName(username) || readResource(ctx.decision, 'users', undefined, username) === undefined) {
    throw new InvalidResource('user does not exist');
  }
}

function revise(
  ctx: DecisionContext,
  kind: ResourceKind,
  key: string,
  previous: object | undefined,
  stored: object,
): void {
  const rights = recordedRights(kind, previous, stored);
  if (previous === undefined) ctx.reviseConfig(kind, key, 'created', [], rights);
  else ctx.reviseConfig(kind, key, 'updated', changedFields(previous, stored), rights);
}

export function putTessen(ctx: DecisionContext, tessen: Tessen): void {
  const changed = changedFields(readTessen(ctx.decision), tessen);
  ctx.put('resources', TESSEN_KEY, tessen);
  ctx.reviseConfig(TESSEN_KEY, TESSEN_KEY, 'updated', changed);
}

export interface DeletionPorts extends CheckEvents {
  configurationKinds: ConfigurationKinds;
}

/** @throws NotFound, InvalidResource for a namespace that is not empty, or when no administrator would be left */
export function deleteResource(
  ctx: DecisionContext,
  kind: WritableKind,
  address: ResourceAddress,
  ports: DeletionPorts,
): void {
  const { namespace, name } = address;
  if (readResource(ctx.decision, kind, namespace, name) === undefined) throw new NotFound('not found');
  if (kind === 'namespaces') deleteNamespace(ctx, name, ports.configurationKinds);
  else deleteDescribed(ctx, kind, address, ports);
}

function deleteDescribed(
  ctx: DecisionContext,
  kind: DescribedKind,
  address: ResourceAddress,
  events: CheckEvents,
): void {
  const { namespace, name } = address;
  const previous = readResource(ctx.decision, kind, namespace, name);
  changeLeavingAdministrator(ctx.decision, kind, name, () => {
    ctx.delete('resources', resourceKey(kind, namespace, name));
  });
  if (kind === 'checks') {
    checkChanged(ctx, namespace ?? '', name, undefined);
    const keys = events.eventKeysOfCheck(namespace ?? '', name, DELETED_PER_STEP);
    disarmTtls(ctx, namespace ?? '', name, keys);
  }
  if (RBAC_KINDS.has(kind)) ctx.announce({ type: 'rbac.changed' });
  ctx.reviseConfig(kind, ledgerKey(address), 'deleted', [], recordedRights(kind, previous, undefined));
}

/** Deletes its events, its role and its binding as well. @throws InvalidResource when it contains anything else */
function deleteNamespace(ctx: DecisionContext, name: string, kinds: ConfigurationKinds): void {
  const own = PIPELINE_KINDS.map((kind) => resourceKey(kind, name, PIPELINE_ROLE));
  for (const kind of [...namespacedKindNames(kinds), ...KINDS_IN_NAMESPACE]) {
    for (const key of ctx.decision.keys('resources', `${kind}/${name}/`)) {
      if (!own.includes(key)) throw new InvalidResource('resource is invalid: namespace is not empty');
    }
  }
  deleteEvents(ctx, `${name}/`, 'event.deleted');
  for (const prefix of [stashKey(name, ''), refusedEntityKey(name, '')]) {
    for (const key of ctx.decision.keys('resources', prefix)) ctx.delete('resources', key);
  }
  hideNotifications(ctx, name);
  for (const kind of PIPELINE_KINDS) deletePipelineResource(ctx, kind, name);
  ctx.delete('resources', resourceKey('namespaces', undefined, name));
  ctx.announce({ type: 'rbac.changed' });
  ctx.announce({ type: 'namespace.deleted', namespace: name });
  ctx.reviseConfig('namespaces', name, 'deleted', []);
}

/** Does nothing when the role or the binding has been deleted before. */
function deletePipelineResource(ctx: DecisionContext, kind: (typeof PIPELINE_KINDS)[number], namespace: string): void {
  const key = resourceKey(kind, namespace, PIPELINE_ROLE);
  const previous = ctx.get('resources', key);
  if (previous === undefined) return;
  ctx.delete('resources', key);
  const rights = recordedRights(kind, previous, undefined);
  ctx.reviseConfig(kind, ledgerKey({ namespace, name: PIPELINE_ROLE }), 'deleted', [], rights);
}

const namespacedKindNames = (kinds: ConfigurationKinds): string[] =>
  Object.entries(kinds).flatMap(([name, { scope }]) => (scope === 'namespace' ? [name] : []));
