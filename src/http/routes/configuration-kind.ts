import type { Commands } from '../../actors/administration/commands.ts';
import type { ResourceAddress } from '../../actors/administration/resource-changes.ts';
import type { ConfigurationKind, ConfigurationKindName } from '../../resources/configuration-kinds.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { assertMetaBounds } from '../../resources/meta-bounds.ts';
import type { ObjectMeta } from '../../resources/object-meta.ts';
import type { Resources, ResourceStore } from '../../store/resource-store.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { assertNotMoved, assertSameName, assertSameNamespace } from '../request/path-match.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import { assertConditions } from '../request/conditions.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { applyPatch } from '../request/merge-patch.ts';
import { keepSentEmptyLists } from '../answer/sent-empty-lists.ts';
import { creates, deletes, lists, patches, replaces, shows, showsUncached } from '../openapi/descriptions.ts';
import type { Caller } from '../../auth/caller.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { selectedList } from '../answer/selected-page.ts';

export interface ConfigurationRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'createResource' | 'putResource' | 'editResource' | 'deleteResource'>;
  access: Rights;
}

/** Checks that a caller holds the rights that a resource grants. */
export type Rights = Pick<AccessControl, 'assertHolds' | 'assertMayBind'>;

/** A kind of configuration, with what its routes need. */
export interface DescribedResource<K extends ConfigurationKindName> extends ConfigurationKind<Resources[K]> {
  /** Set for kinds that grant rights. @throws Forbidden when the resource grants more than the caller has */
  assertMayGrant?(access: Rights, caller: Caller, resource: Resources[K]): void;
  /** GET ignores `If-None-Match`. */
  ignoresIfNoneMatch?: boolean;
}

/** The routes of a kind whose resources are stored as sent. `kind` is its name in paths and in roles. */
export function configurationRoutes<K extends ConfigurationKindName>(
  kind: K,
  described: DescribedResource<K>,
  ports: ConfigurationRoutePorts,
): Route[] {
  const isClusterWide = described.scope === 'cluster';
  const { api = CORE } = described;
  const home = isClusterWide ? `${api}/${kind}` : `${api}/namespaces/:namespace/${kind}`;
  const routes = [listing(kind, home, described, ports), ...addressed(kind, home, described, ports)];
  return isClusterWide ? routes : [listing(kind, `${api}/${kind}`, described, ports), ...routes];
}

function listing(
  kind: ConfigurationKindName,
  path: string,
  { schema, selectable }: Pick<ConfigurationKind, 'schema' | 'selectable'>,
  { resources }: ConfigurationRoutePorts,
): Route {
  return {
    method: 'GET',
    path,
    access: { resource: kind, verb: 'list' },
    reads: 'nothing',
    description: lists(path.includes(':namespace') ? `${kind} in a namespace` : `all ${kind}`, schema),
    handle: (request) =>
      selectedList(selectable, request, (page) => resources.lazyList(kind, request.params['namespace'], page)),
  };
}

function addressed<K extends ConfigurationKindName>(
  kind: K,
  home: string,
  described: DescribedResource<K>,
  ports: ConfigurationRoutePorts,
): Route[] {
  const { resources, commands, access } = ports;
  const { parameter = 'name', schema } = described;
  const what = oneOf(described);
  const one = `${home}/:${parameter}`;
  const nameFrom = [parameter];
  const addressOf = (request: RouteRequest): ResourceAddress => ({
    namespace: request.params['namespace'],
    name: param(request, parameter),
  });
  /** Checks that the body matches the path. `name` is the path parameter; undefined on creation. */
  const accept = ({ params, body, caller }: RouteRequest, name?: string): Resources[K] => {
    const resource = described.parse(body);
    assertSameNamespace(resource.metadata.namespace, params['namespace']);
    if (name !== undefined) assertSameName(resource.metadata.name, name);
    assertValid(described, resource);
    described.assertMayGrant?.(access, caller, resource);
    return resource;
  };
  return [
    {
      method: 'POST',
      path: home,
      access: { resource: kind, verb: 'create' },
      reads: 'json',
      description: creates(what, schema),
      handle: async (request) => {
        await commands.createResource(kind, accept(request), request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'GET',
      path: one,
      access: { resource: kind, verb: 'get', nameFrom },
      reads: 'nothing',
      description: (described.ignoresIfNoneMatch === true ? showsUncached : shows)(what, schema),
      handle: (request) => {
        const { namespace, name } = addressOf(request);
        const resource = resources.get(kind, namespace, name);
        if (resource === undefined) throw new NotFound();
        return taggedJson(resource);
      },
    },
    {
      method: 'PUT',
      path: one,
      access: { resource: kind, verb: 'update', nameFrom },
      reads: 'json',
      description: replaces(what, schema),
      handle: async (request) => {
        await commands.putResource(kind, accept(request, param(request, parameter)), request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'PATCH',
      path: one,
      access: { resource: kind, verb: 'update', nameFrom },
      reads: 'merge-patch',
      description: patches(what, schema),
      handle: (request) => patch(kind, described, addressOf(request), request, ports),
    },
    {
      method: 'DELETE',
      path: one,
      access: { resource: kind, verb: 'delete', nameFrom },
      reads: 'nothing',
      description: deletes(what),
      handle: async (request) => {
        const { namespace, name } = addressOf(request);
        await commands.deleteResource(kind, namespace, name, request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/** Name with indefinite article, for texts. */
const oneOf = ({ selectable: { prefix } }: Pick<ConfigurationKind, 'selectable'>): string =>
  `${/^[aeiou]/.test(prefix) ? 'an' : 'a'} ${prefix}`;

/** Validates the shape of the patch before the resource is looked up, and the rules after merging. */
async function patch<K extends ConfigurationKindName>(
  kind: K,
  described: DescribedResource<K>,
  address: ResourceAddress,
  { body, conditions, caller, tagOf }: RouteRequest,
  { commands, access }: ConfigurationRoutePorts,
): Promise<Answer> {
  const { metadata } = described.parse(body);
  assertNotMoved(metadata, address.namespace ?? '', [address.name]);
  const edit = (stored: Resources[K]): Resources[K] => {
    assertConditions(conditions, tagOf(stored));
    const edited = described.parse(applyPatch(stored, body));
    assertValid(described, edited);
    described.assertMayGrant?.(access, caller, edited);
    return edited;
  };
  const stored = await commands.editResource(kind, address, edit, caller.username);
  return taggedJson(stored, keepSentEmptyLists(stored, body));
}

/** @throws InvalidResource */
export function assertValid<T extends { metadata: ObjectMeta }>(
  { assert }: { assert(resource: T): void },
  resource: T,
): void {
  try {
    assert(resource);
    assertMetaBounds(resource.metadata);
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    throw new InvalidResource(`resource is invalid: ${error.message}`, { cause: error });
  }
}
