import type { Commands } from '../../actors/administration/commands.ts';
import { EntityRefused, NotFound } from '../../resources/errors.ts';
import type { CheckEvent } from '../../resources/event.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { IncidentStore } from '../../store/incident-store.ts';
import { countKeys, pageOfKeys } from '../../store/key-pages.ts';
import { eventAddress } from '../../store/encoding/keyspace.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import type { Answer } from '../request/route.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { acceptedAt, empty, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import type { EarlierView } from './earlier-view.ts';
import type { Flavour } from './flavour.ts';
import { checkNameOf, clientOf, eventOfResult, RESULT_INTEGERS } from './result-body.ts';

export interface ResultRoutePorts {
  datacenters: Datacenters;
  /** The durable, visible records. */
  store: RangeReader;
  events: Pick<EventStore, 'get'>;
  incidents: Pick<IncidentStore, 'isResultDeleted'>;
  entities: Pick<EntityStore, 'get'>;
  resources: Pick<ResourceStore, 'get'>;
  commands: Pick<Commands, 'putEvent' | 'deleteEvent'>;
  flavour: Pick<Flavour, 'deleted'>;
  view: EarlierView;
}

const RESOURCE = 'events';

export function earlierResultRoutes(ports: ResultRoutePorts): EarlierRoute[] {
  const { datacenters, store, events, incidents, commands, flavour, view } = ports;

  const list = (request: EarlierRequest): Promise<Answer> => {
    const { client } = request.params;
    const parts = datacenters.allowed(request, RESOURCE, 'list').map((datacenter): ListPart => {
      const prefix = client === undefined ? `${datacenter.namespace}/` : `${datacenter.namespace}/${client}/`;
      return {
        count: (isDisconnected) => countKeys(store, { table: 'events', prefix, isDisconnected }),
        *items(page) {
          for (const key of pageOfKeys(store, 'events', prefix, page)) {
            const { namespace, entity, check } = eventAddress(key);
            const event = events.get(namespace, entity, check);
            if (event !== undefined && !incidents.isResultDeleted(event)) yield view.result(datacenter, event);
          }
        },
      };
    });
    return listed(request, parts);
  };

  const found = (request: EarlierRequest): { datacenter: Datacenter; event: CheckEvent }[] => {
    const { client = '', check = '' } = request.params;
    return datacenters.allowed(request, RESOURCE, 'list').flatMap((datacenter) => {
      const event = events.get(datacenter.namespace, client, check);
      return event === undefined || incidents.isResultDeleted(event) ? [] : [{ datacenter, event }];
    });
  };

  /** Answers for the one datacenter that has the result. @throws NotFound when none has it */
  const ofOne = async (
    request: EarlierRequest,
    answer: (datacenter: Datacenter, event: CheckEvent) => Answer | Promise<Answer>,
  ): Promise<Answer> => {
    const results = found(request);
    const [only, ...others] = results;
    if (only === undefined) throw new NotFound();
    if (others.length === 0) return answer(only.datacenter, only.event);
    return multipleChoices(
      request,
      results.map(({ datacenter, event }) => view.result(datacenter, event)),
    );
  };

  const remove = (request: EarlierRequest): Promise<Answer> =>
    ofOne(request, async ({ namespace }) => {
      const { client: entity = '', check = '' } = request.params;
      assertMay(request, { resource: RESOURCE, verb: 'delete', namespace, name: `${entity}/${check}` });
      await commands.deleteEvent({ namespace, entity, check }, request.caller.username);
      return empty(flavour.deleted);
    });

  return [
    { method: 'GET', path: '/results', handle: list },
    { method: 'POST', path: '/results', integers: RESULT_INTEGERS, handle: (request) => post(ports, request) },
    { method: 'GET', path: '/results/:client', handle: list },
    {
      method: 'GET',
      path: '/results/:client/:check',
      handle: (request) => ofOne(request, (datacenter, event) => jsonOf(200, view.result(datacenter, event))),
    },
    { method: 'DELETE', path: '/results/:client/:check', handle: remove },
  ];
}

/** Merges a result like one of an agent. It is durable when this resolves. */
async function post(
  { datacenters, entities, resources, commands, view }: ResultRoutePorts,
  request: EarlierRequest,
): Promise<Answer> {
  const { body, caller } = request;
  const name = checkNameOf(body);
  const entity = clientOf(body);
  const change = { resource: RESOURCE, verbs: ['create', 'update'] as const, name: `${entity}/${name}` };
  const { namespace } = datacenters.forChange(request, change);
  const { nowS } = view;
  const event = eventOfResult(body, {
    namespace,
    nowS,
    definition: resources.get('checks', namespace, name),
    hasDefaultHandler: resources.get('handlers', namespace, 'default') !== undefined,
  });
  // The results of a client with a signature are only accepted from the client itself, which signs them.
  if (entities.get(namespace, entity)?.metadata.labels?.['signature'] !== undefined) return acceptedAt(nowS);
  await commands.putEvent(event, caller.username).catch(unlessRefused);
  return acceptedAt(nowS);
}

/** The results of a client that was deleted with `invalidate` are dropped. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof EntityRefused)) throw error;
}
