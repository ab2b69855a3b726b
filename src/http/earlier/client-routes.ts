import { setImmediate as nextTick } from 'node:timers/promises';
import type { Commands } from '../../actors/administration/commands.ts';
import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { IncidentStore } from '../../store/incident-store.ts';
import { countKeys, pageOfKeys } from '../../store/key-pages.ts';
import { eventAddress, resourceKey } from '../../store/encoding/keyspace.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import type { Answer } from '../request/route.ts';
import { clientNameOf, entityOfClient } from './client-body.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { acceptedAt, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import { digitsIn } from './earlier-query.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import type { EarlierView } from './earlier-view.ts';
import { changed, type Flavour } from './flavour.ts';

export interface ClientRoutePorts {
  datacenters: Datacenters;
  /** The durable, visible records. */
  store: RangeReader;
  entities: Pick<EntityStore, 'get'>;
  events: Pick<EventStore, 'get'>;
  incidents: Pick<IncidentStore, 'list' | 'isResultDeleted'>;
  commands: Pick<Commands, 'putEntity' | 'deleteEntity' | 'resolveEvent' | 'refuseClient'>;
  flavour: Pick<Flavour, 'requiresDatacenter' | 'describesChanges'>;
  view: EarlierView;
}

const RESOURCE = 'entities';
/** The open events that are resolved in one tick of the event loop. */
const RESOLVED_PER_TICK = 100;

const mayReadEvents = ({ caller }: EarlierRequest, { namespace }: Datacenter): boolean =>
  caller.may({ resource: 'events', verb: 'list', namespace, name: '' });

export function earlierClientRoutes(ports: ClientRoutePorts): EarlierRoute[] {
  const { datacenters, store, entities, events, incidents, view } = ports;

  const list = (request: EarlierRequest): Promise<Answer> => {
    const parts = datacenters.allowed(request, RESOURCE, 'list').map((datacenter): ListPart => {
      const { namespace } = datacenter;
      const prefix = resourceKey('entities', namespace, '');
      return {
        count: (isDisconnected) => countKeys(store, { table: 'resources', prefix, isDisconnected }),
        *items(page) {
          for (const key of pageOfKeys(store, 'resources', prefix, page)) {
            const entity = entities.get(namespace, key.slice(prefix.length));
            if (entity !== undefined) yield view.client(datacenter, entity, mayReadEvents(request, datacenter));
          }
        },
      };
    });
    return listed(request, parts);
  };

  const found = (request: EarlierRequest): { datacenter: Datacenter; shown: object }[] =>
    datacenters.allowed(request, RESOURCE, 'get').flatMap((datacenter) => {
      const entity = entities.get(datacenter.namespace, request.params['client'] ?? '');
      return entity === undefined
        ? []
        : [{ datacenter, shown: view.client(datacenter, entity, mayReadEvents(request, datacenter)) }];
    });

  /** Answers for the one datacenter that has the client. @throws NotFound when none has it */
  const ofOne = async (
    request: EarlierRequest,
    answer: (datacenter: Datacenter, shown: object) => Answer | Promise<Answer>,
  ): Promise<Answer> => {
    const clients = found(request);
    const [only, ...others] = clients;
    if (only === undefined) throw new NotFound();
    if (others.length > 0)
      return multipleChoices(
        request,
        clients.map(({ shown }) => shown),
      );
    return answer(only.datacenter, only.shown);
  };

  /** The last results of each check of a client; of an unknown client there are none. */
  const history = async (request: EarlierRequest): Promise<Answer> => {
    const clients = found(request);
    const [only, ...others] = clients;
    if (only === undefined) return jsonOf(200, []);
    if (others.length > 0)
      return multipleChoices(
        request,
        clients.map(({ shown }) => shown),
      );
    const { datacenter } = only;
    const { namespace } = datacenter;
    if (!mayReadEvents(request, datacenter)) throw new NotFound();
    const prefix = `${namespace}/${request.params['client'] ?? ''}/`;
    return listed(request, [
      {
        count: (isDisconnected) => countKeys(store, { table: 'events', prefix, isDisconnected }),
        *items(page) {
          for (const key of pageOfKeys(store, 'events', prefix, page)) {
            const { entity, check } = eventAddress(key);
            const event = events.get(namespace, entity, check);
            if (event !== undefined && !incidents.isResultDeleted(event)) yield view.history(datacenter, event);
          }
        },
      },
    ]);
  };

  return [
    { method: 'GET', path: '/clients', handle: list },
    { method: 'POST', path: '/clients', handle: (request) => create(ports, request) },
    {
      method: 'GET',
      path: '/clients/:client',
      handle: (request) => ofOne(request, (_, shown) => jsonOf(200, shown)),
    },
    {
      method: 'DELETE',
      path: '/clients/:client',
      handle: (request) => ofOne(request, (datacenter) => remove(ports, request, datacenter)),
    },
    { method: 'GET', path: '/clients/:client/history', handle: history },
  ];
}

/** Creates a client without an agent, or replaces it. @throws AlreadyExists for a client with an agent */
async function create(
  { datacenters, entities, commands, flavour, view }: ClientRoutePorts,
  request: EarlierRequest,
): Promise<Answer> {
  const { body, caller } = request;
  const name = clientNameOf(body);
  const change = { resource: RESOURCE, verbs: ['create', 'update'] as const, name };
  const { namespace } = datacenters.forChange(request, change, flavour.requiresDatacenter);
  const entity = entityOfClient(body, namespace, view.nowS);
  const stored = entities.get(namespace, name);
  if (stored !== undefined && stored.entity_class !== 'proxy') throw new AlreadyExists();
  await commands.putEntity(entity, caller.username);
  return changed(flavour, 201, { name });
}

/** Resolves the open events of a client, for which handlers run, and deletes it with its results. Source: spec/05 7.1. */
async function remove(
  { incidents, commands, view }: ClientRoutePorts,
  request: EarlierRequest,
  { namespace }: Datacenter,
): Promise<Answer> {
  const { params, query, caller } = request;
  const { client: entity = '' } = params;
  const issued = view.nowS;
  assertMay(request, { resource: RESOURCE, verb: 'delete', namespace, name: entity });
  let resolved = 0;
  for (const { event } of incidents.list({ namespace, entity })) {
    const check = event.check.metadata.name ?? '';
    await commands.resolveEvent({ namespace, entity, check }, caller.username).catch(unlessGone);
    resolved += 1;
    if (resolved % RESOLVED_PER_TICK === 0) await nextTick();
  }
  if (query.get('invalidate') === 'true') {
    const expireS = digitsIn(query, 'invalidate_expire');
    await commands.refuseClient(
      namespace,
      entity,
      expireS === undefined ? undefined : issued + expireS,
      caller.username,
    );
  }
  await commands.deleteEntity(namespace, entity, caller.username).catch(unlessGone);
  return acceptedAt(issued);
}

/** Something that another request deleted or resolved meanwhile is not an error. */
function unlessGone(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
