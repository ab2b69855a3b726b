import type { Commands } from '../../actors/administration/commands.ts';
import {
  assertEntity,
  configOf,
  type Entity,
  type EntityConfig,
  EntityConfigSchema,
  EntitySchema,
  parseEntityConfig,
  parseEntityShape,
  withOwnSubscription,
} from '../../resources/entity.ts';
import { isManagedByAgent, managedByAgent } from '../../resources/entity-manager.ts';
import { AlreadyExists, InvalidResource, NotFound } from '../../resources/errors.ts';
import { assertName } from '../../resources/names.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import { mapPage } from '../../store/page.ts';
import { assertNotMoved, assertSameName, assertSameNamespace } from '../request/path-match.ts';
import { json, NO_CONTENT } from '../answer/answers.ts';
import { assertConditions } from '../request/conditions.ts';
import { assertKeepsSecrets } from '../request/kept-secrets.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { applyPatch } from '../request/merge-patch.ts';
import { keepSentEmptyLists } from '../answer/sent-empty-lists.ts';
import { creates, deletes, withEcho, lists, patches, replaces, showsUncached } from '../openapi/descriptions.ts';
import { pageRequest } from '../answer/pagination.ts';
import { redactEntity } from '../../resources/redaction.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { selectedList } from '../answer/selected-page.ts';

export interface EntityRoutePorts {
  entities: Pick<EntityStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createEntity' | 'putEntity' | 'editEntity' | 'deleteEntity'>;
}

const RESOURCE = 'entities';
const NAMESPACE = `${CORE}/namespaces/:namespace/entities`;
const ENTITY = `${NAMESPACE}/:name`;
const NAME = ['name'] as const;

export function entityRoutes({ entities, commands }: EntityRoutePorts): Route[] {
  const list = (namespace: string | undefined, request: RouteRequest): Promise<Answer> => {
    assertOwnToken(request.query);
    return selectedList(RESOURCE, request, (page) => mapPage(entities.list(namespace, page), redactEntity));
  };

  const create = async (request: RouteRequest): Promise<Answer> => {
    const entity = namedEntity(request.body, param(request, 'namespace'), undefined);
    const { namespace = '', name = '' } = entity.metadata;
    // As in the reference, an existing entity is reported before an invalid class.
    assertName(name, 'entity name');
    if (entities.get(namespace, name) !== undefined) throw new AlreadyExists();
    return echo(request, entity, commands.createEntity);
  };

  const put = async (request: RouteRequest): Promise<Answer> => {
    const entity = namedEntity(request.body, param(request, 'namespace'), param(request, 'name'));
    if (isManagedByAgent(entity)) throw managedByAgent();
    return echo(request, entity, commands.putEntity);
  };

  const patch = async (request: RouteRequest): Promise<Answer> => {
    const { body, conditions, caller, tagOf } = request;
    const [namespace, name] = [param(request, 'namespace'), param(request, 'name')];
    assertNotMoved(parseEntityConfig(body).metadata, namespace, [name]);
    const edit = (stored: EntityConfig): EntityConfig => {
      assertConditions(conditions, tagOf(stored));
      const edited = parseEntityConfig(applyPatch(stored, body));
      assertEntity(edited);
      assertKeepsSecrets(stored, edited, body);
      return edited;
    };
    const config = await commands.editEntity(namespace, name, edit, caller.username);
    return taggedJson(config, keepSentEmptyLists(redactEntity(config), body));
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/entities`,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('entities in all namespaces', EntitySchema),
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('entities in a namespace', EntitySchema),
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'POST',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'create' },
      reads: 'json',
      description: withEcho(creates('an entity', EntitySchema), EntitySchema, ['entity-limit']),
      handle: create,
    },
    {
      method: 'GET',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      // The tag covers the configuration only, so it does not change with the reported state.
      description: showsUncached('an entity', EntitySchema),
      handle: (request) => {
        const entity = entities.get(param(request, 'namespace'), param(request, 'name'));
        if (entity === undefined) throw new NotFound();
        // The reported state changes continually and cannot be patched.
        return taggedJson(configOf(entity), redactEntity(entity));
      },
    },
    {
      method: 'PUT',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: withEcho(replaces('an entity', EntitySchema), EntitySchema, ['already-exists', 'entity-limit']),
      handle: put,
    },
    {
      method: 'PATCH',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'merge-patch',
      description: {
        ...patches('the configuration of an entity', EntityConfigSchema),
        errors: ['already-exists'],
      },
      handle: patch,
    },
    {
      method: 'DELETE',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      description: deletes('an entity and its events'),
      handle: async (request) => {
        await commands.deleteEntity(param(request, 'namespace'), param(request, 'name'), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/**
 * Rejects a token that this list did not issue: its positions end with the only NUL, as `keyAfter` makes them. Other
 * lists accept any position. @throws InvalidResource
 */
function assertOwnToken(query: URLSearchParams): void {
  const { from } = pageRequest(query);
  if (from === undefined || from.indexOf('\0') === from.length - 1) return;
  throw new InvalidResource('continue must be a token of this list');
}

/** Writes a valid entity and returns it as it was sent, with its own subscription and without its secrets. */
async function echo(
  { body, caller }: RouteRequest,
  entity: Entity,
  write: (entity: Entity, user: string) => Promise<void>,
): Promise<Answer> {
  assertEntity(entity);
  const subscribed = withOwnSubscription(entity);
  await write(subscribed, caller.username);
  return json(keepSentEmptyLists(redactEntity(subscribed), body));
}

/**
 * Fills in the names from the path and compares them. `name` is the path parameter; undefined on creation.
 * @throws InvalidResource
 */
function namedEntity(body: object, namespace: string, name: string | undefined): Entity {
  const entity = parseEntityShape(body);
  const { metadata } = entity;
  metadata.namespace ??= namespace;
  metadata.name ??= name;
  assertSameNamespace(metadata.namespace, namespace);
  if (name !== undefined) assertSameName(metadata.name, name);
  return entity;
}
