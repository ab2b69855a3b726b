import type { Commands } from '../../actors/administration/commands.ts';
import { NotFound } from '../../resources/errors.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import type { IncidentStore, OpenEvent } from '../../store/incident-store.ts';
import type { Answer } from '../request/route.ts';
import { isStoredName, optional, text } from './body-members.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import type { EarlierView } from './earlier-view.ts';
import { changed, type Flavour } from './flavour.ts';

export interface EventRoutePorts {
  datacenters: Datacenters;
  incidents: Pick<IncidentStore, 'get' | 'list' | 'countInSteps'>;
  entities: Pick<EntityStore, 'get'>;
  commands: Pick<Commands, 'resolveEvent'>;
  flavour: Pick<Flavour, 'describesChanges'>;
  view: EarlierView;
}

interface FoundEvent {
  datacenter: Datacenter;
  open: OpenEvent;
}

const RESOURCE = 'events';
/** Both names serve the same routes. */
const ROOTS = ['/events', '/incidents'];

export function earlierEventRoutes(ports: EventRoutePorts): EarlierRoute[] {
  const { datacenters, incidents, entities, view } = ports;

  const list = (request: EarlierRequest): Promise<Answer> => {
    const entity = request.params['client'];
    const allowed = datacenters.allowed(request, RESOURCE, 'list');
    if (entity !== undefined && request.query.get('strict') === 'true') {
      const isKnown = allowed.some(({ namespace }) => entities.get(namespace, entity) !== undefined);
      if (!isKnown) throw new NotFound('no datacenter has this client');
    }
    const parts = allowed.map((datacenter): ListPart => {
      const scope = { namespace: datacenter.namespace, ...(entity === undefined ? undefined : { entity }) };
      return {
        count: (isDisconnected) => incidents.countInSteps(scope, isDisconnected),
        *items(page) {
          for (const open of incidents.list(scope, page)) yield view.event(datacenter, open);
        },
      };
    });
    return listed(request, parts);
  };

  const show = (request: EarlierRequest): Answer => {
    const { client = '', check = '' } = request.params;
    const shown = found(ports, request, client, check).map(({ datacenter, open }) => view.event(datacenter, open));
    const [only, ...others] = shown;
    if (only === undefined) throw new NotFound();
    return others.length === 0 ? jsonOf(200, only) : multipleChoices(request, shown);
  };

  const resolves = (request: EarlierRequest): Promise<Answer> => {
    const { client = '', check = '' } = request.params;
    return resolve(ports, request, client, check);
  };

  return [
    ...ROOTS.flatMap((root): EarlierRoute[] => [
      { method: 'GET', path: root, handle: list },
      { method: 'GET', path: `${root}/:client`, handle: list },
      { method: 'GET', path: `${root}/:client/:check`, handle: show },
      { method: 'DELETE', path: `${root}/:client/:check`, handle: resolves },
    ]),
    {
      method: 'POST',
      path: '/resolve',
      handle(request) {
        const { body } = request;
        const [client, check] = [text('client', body['client']), text('check', body['check'])];
        const dc = optional(body, 'dc', (value) => text('dc', value));
        if (!isStoredName(client) || !isStoredName(check)) throw new NotFound();
        const query = dc === undefined ? request.query : new Map([...request.query, ['dc', dc]]);
        return resolve(ports, { ...request, query }, client, check);
      },
    },
  ];
}

function found(
  { datacenters, incidents }: EventRoutePorts,
  request: EarlierRequest,
  client: string,
  check: string,
): FoundEvent[] {
  return datacenters.allowed(request, RESOURCE, 'list').flatMap((datacenter) => {
    const open = incidents.get(datacenter.namespace, client, check);
    return open === undefined ? [] : [{ datacenter, open }];
  });
}

/** Resolves the one open event of a client and check. The resolution is durable when this resolves. Source: spec/05 5.2. */
async function resolve(
  ports: EventRoutePorts,
  request: EarlierRequest,
  client: string,
  check: string,
): Promise<Answer> {
  const { commands, entities, flavour, view } = ports;
  const events = found(ports, request, client, check);
  const [only, ...others] = events;
  if (only === undefined) throw new NotFound();
  if (others.length > 0) {
    return multipleChoices(
      request,
      events.map(({ datacenter, open }) =>
        view.client(datacenter, entities.get(datacenter.namespace, client) ?? open.event.entity, true),
      ),
    );
  }
  const { namespace } = only.datacenter;
  assertMay(request, { resource: RESOURCE, verb: 'update', namespace, name: `${client}/${check}` });
  await commands.resolveEvent({ namespace, entity: client, check }, request.caller.username);
  return changed(flavour, 202, { issued: view.nowS });
}
