import type { Commands } from '../../actors/commands.ts';
import { assertEntity, type Entity, parseEntityShape, withOwnSubscription } from '../../resources/entity.ts';
import { NotFound } from '../../resources/errors.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import { mapPage } from '../../store/page.ts';
import { assertSameName, assertSameNamespace } from '../address.ts';
import { json, NO_CONTENT } from '../answers.ts';
import { taggedJson } from '../entity-tag.ts';
import { listAnswer, pageRequest } from '../pagination.ts';
import { redactEntity } from '../../resources/redaction.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../route.ts';

export interface EntityRoutePorts {
  entities: Pick<EntityStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createEntity' | 'putEntity' | 'deleteEntity'>;
}

const RESOURCE = 'entities';
const NAMESPACE = `${CORE}/namespaces/:namespace/entities`;
const ENTITY = `${NAMESPACE}/:name`;
const NAME = ['name'] as const;

export function entityRoutes({ entities, commands }: EntityRoutePorts): Route[] {
  const list = (namespace: string | undefined, request: RouteRequest): Answer => {
    const { items, lastKey } = mapPage(entities.list(namespace, pageRequest(request.query)), redactEntity);
    return listAnswer(items, lastKey);
  };

  const create = async (request: RouteRequest): Promise<Answer> => {
    const entity = acceptEntity(request.body, param(request, 'namespace'), undefined);
    await commands.createEntity(entity, request.caller.username);
    return json(redactEntity(entity));
  };

  const put = async (request: RouteRequest): Promise<Answer> => {
    const entity = acceptEntity(request.body, param(request, 'namespace'), param(request, 'name'));
    await commands.putEntity(entity, request.caller.username);
    return json(redactEntity(entity));
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/entities`,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'POST',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'create' },
      reads: 'json',
      handle: create,
    },
    {
      method: 'GET',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      handle: (request) => {
        const entity = entities.get(param(request, 'namespace'), param(request, 'name'));
        if (entity === undefined) throw new NotFound();
        return taggedJson(entity, redactEntity(entity));
      },
    },
    {
      method: 'PUT',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'json',
      handle: put,
    },
    {
      method: 'DELETE',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      handle: async (request) => {
        await commands.deleteEntity(param(request, 'namespace'), param(request, 'name'), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/** `name` is that of the path, where it has one. @throws InvalidResource */
function acceptEntity(body: object, namespace: string, name: string | undefined): Entity {
  const entity = parseEntityShape(body);
  const { metadata } = entity;
  metadata.namespace ??= namespace;
  metadata.name ??= name;
  assertSameNamespace(metadata.namespace, namespace);
  if (name !== undefined) assertSameName(metadata.name, name);
  assertEntity(entity);
  return withOwnSubscription(entity);
}
