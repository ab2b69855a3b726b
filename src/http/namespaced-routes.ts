import type { Commands, NamespacedKind } from '../actors/commands.ts';
import { InvalidResource, NotFound } from '../resources/errors.ts';
import type { Resources, ResourceStore } from '../store/resource-store.ts';
import { assertSameName, assertSameNamespace } from './address.ts';
import { CREATED, NO_CONTENT } from './answers.ts';
import { taggedJson } from './entity-tag.ts';
import { listAnswer, pageRequest } from './pagination.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from './route.ts';

export interface NamespacedRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createResource' | 'putResource' | 'deleteResource'>;
}

/** What the routes of a kind need to know of it. */
export interface NamespacedResource<K extends NamespacedKind> {
  /** Its word in paths and in roles. */
  kind: K;
  /** Shape and defaults. @throws InvalidResource */
  parse(body: object): Resources[K];
  /** @throws InvalidResource with the rule it breaks */
  assert(resource: Resources[K]): void;
}

const NAME = ['name'] as const;

/** The rows that every kind has whose resources are written as they are: list, create, get, replace and delete. */
export function namespacedRoutes<K extends NamespacedKind>(
  described: NamespacedResource<K>,
  { resources, commands }: NamespacedRoutePorts,
): Route[] {
  const { kind } = described;
  const inNamespace = `${CORE}/namespaces/:namespace/${kind}`;
  const one = `${inNamespace}/:name`;
  const list = (namespace: string | undefined, request: RouteRequest): Answer => {
    const { items, lastKey } = resources.list(kind, namespace, pageRequest(request.query));
    return listAnswer(items, lastKey);
  };
  return [
    {
      method: 'GET',
      path: `${CORE}/${kind}`,
      access: { resource: kind, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: inNamespace,
      access: { resource: kind, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'POST',
      path: inNamespace,
      access: { resource: kind, verb: 'create' },
      reads: 'json',
      handle: async (request) => {
        const resource = accept(described, request.body, param(request, 'namespace'), undefined);
        await commands.createResource(kind, resource, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'GET',
      path: one,
      access: { resource: kind, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      handle: (request) => {
        const resource = resources.get(kind, param(request, 'namespace'), param(request, 'name'));
        if (resource === undefined) throw new NotFound();
        return taggedJson(resource);
      },
    },
    {
      method: 'PUT',
      path: one,
      access: { resource: kind, verb: 'update', nameFrom: NAME },
      reads: 'json',
      handle: async (request) => {
        const resource = accept(described, request.body, param(request, 'namespace'), param(request, 'name'));
        await commands.putResource(kind, resource, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: one,
      access: { resource: kind, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      handle: async (request) => {
        const { username } = request.caller;
        await commands.deleteResource(kind, param(request, 'namespace'), param(request, 'name'), username);
        return NO_CONTENT;
      },
    },
  ];
}

/** `name` is that of the path, where it has one. @throws InvalidResource */
function accept<K extends NamespacedKind>(
  { parse, assert }: NamespacedResource<K>,
  body: object,
  namespace: string,
  name: string | undefined,
): Resources[K] {
  const resource = parse(body);
  assertSameNamespace(resource.metadata.namespace, namespace);
  if (name !== undefined) assertSameName(resource.metadata.name, name);
  try {
    assert(resource);
  } catch (error) {
    if (error instanceof InvalidResource) {
      throw new InvalidResource(`resource is invalid: ${error.message}`, { cause: error });
    }
    throw error;
  }
  return resource;
}
