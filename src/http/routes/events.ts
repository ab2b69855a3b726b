import type { Commands } from '../../actors/administration/commands.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { type Event, EventSchema, hasCheck } from '../../resources/event.ts';
import type { Verb } from '../../rules/rbac.ts';
import type { EventAddress } from '../../store/encoding/keyspace.ts';
import type { EventStore } from '../../store/event-store.ts';
import { mapPage } from '../../store/page.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { parseEvent } from '../request/event-body.ts';
import { CREATED, json, NO_CONTENT } from '../answer/answers.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { creates, deletes, withEcho, lists, replaces, shows } from '../openapi/descriptions.ts';
import { listAnswer } from '../answer/pagination.ts';
import { redactEvent } from '../../resources/redaction.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { keepSentEmptyLists } from '../answer/sent-empty-lists.ts';
import { selectedPage } from '../answer/selected-page.ts';

export interface EventRoutePorts {
  access: Pick<AccessControl, 'assertAllowed'>;
  events: Pick<EventStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createEvent' | 'putEvent' | 'deleteEvent'>;
}

const RESOURCE = 'events';
const NAMESPACE = `${CORE}/namespaces/:namespace/events`;
const ENTITY = `${NAMESPACE}/:entity`;
const EVENT = `${ENTITY}/:check`;
const ADDRESS = ['entity', 'check'] as const;

export function eventRoutes({ events, commands, access }: EventRoutePorts): Route[] {
  const list = async (scope: Parameters<EventStore['list']>[0], request: RouteRequest): Promise<Answer> => {
    const { items, lastKey, isSelected } = await selectedPage(RESOURCE, request, (page) =>
      mapPage(events.list(scope, page), redactEvent),
    );
    // Tokens of the list of all namespaces start with a slash.
    const position = scope.namespace === undefined && lastKey !== undefined ? `/${lastKey}` : lastKey;
    if (scope.entity !== undefined && isEmpty(items) && !request.query.has('continue')) throw new NotFound();
    return listAnswer(items, position, isSelected);
  };

  const create = async (request: RouteRequest): Promise<Answer> => {
    const event = parseEvent(request.body, param(request, 'namespace'), undefined);
    await commands.createEvent(event, request.caller.username);
    return echo(request, event);
  };

  /** A right to the name in the path does not cover the proxy entity that the check names. @throws Forbidden */
  const assertMayWriteFor = (proxy: string, verb: Verb, request: RouteRequest): void => {
    const { namespace, check } = addressOf(request);
    access.assertAllowed(request.caller, { verb, resource: RESOURCE, namespace, name: `${proxy}/${check}` });
  };

  const put = async (request: RouteRequest, verb: Verb): Promise<Event> => {
    const address = addressOf(request);
    const event = parseEvent(request.body, address.namespace, address);
    if (!hasCheck(event)) throw new InvalidResource('event must contain a check');
    const proxy = event.check.proxy_entity_name;
    if (proxy !== '') assertMayWriteFor(proxy, verb, request);
    await commands.putEvent(event, request.caller.username);
    return event;
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/events`,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('events in all namespaces', EventSchema),
      handle: (request) => list({}, request),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('events in a namespace', EventSchema),
      handle: (request) => list({ namespace: param(request, 'namespace') }, request),
    },
    {
      method: 'POST',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'create' },
      reads: 'json',
      description: withEcho(creates('an event', EventSchema), EventSchema, ['entity-limit']),
      handle: create,
    },
    {
      method: 'GET',
      path: ENTITY,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('events of an entity', EventSchema),
      handle: (request) => list({ namespace: param(request, 'namespace'), entity: param(request, 'entity') }, request),
    },
    {
      method: 'GET',
      path: EVENT,
      access: { resource: RESOURCE, verb: 'get', nameFrom: ADDRESS },
      reads: 'nothing',
      description: shows('an event', EventSchema),
      handle: (request) => {
        const { namespace, entity, check } = addressOf(request);
        const event = events.get(namespace, entity, check);
        if (event === undefined) throw new NotFound();
        return taggedJson(event, redactEvent(event));
      },
    },
    {
      method: 'PUT',
      path: EVENT,
      access: { resource: RESOURCE, verb: 'update', nameFrom: ADDRESS },
      reads: 'json',
      description: withEcho(replaces('an event', EventSchema), EventSchema, ['entity-limit']),
      handle: async (request) => echo(request, await put(request, 'update')),
    },
    {
      // The reference creates or updates here, and answers with an empty body.
      method: 'POST',
      path: EVENT,
      access: { resource: RESOURCE, verb: 'create', nameFrom: ADDRESS },
      reads: 'json',
      description: { ...replaces('an event, with an empty response', EventSchema), errors: ['entity-limit'] },
      handle: async (request) => {
        await put(request, 'create');
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: EVENT,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: ADDRESS },
      reads: 'nothing',
      description: deletes('an event'),
      handle: async (request) => {
        await commands.deleteEvent(addressOf(request), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/** The event as it was sent, without the secrets of its entity. */
const echo = ({ body }: RouteRequest, event: Event): Answer => json(keepSentEmptyLists(redactEvent(event), body));

const isEmpty = (items: Iterable<unknown>): boolean => items[Symbol.iterator]().next().done === true;

const addressOf = (request: RouteRequest): EventAddress => ({
  namespace: param(request, 'namespace'),
  entity: param(request, 'entity'),
  check: param(request, 'check'),
});
