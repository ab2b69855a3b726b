import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { isName } from '../../resources/names.ts';
import { isOpen } from '../../rules/incident.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { IncidentStore } from '../../store/incident-store.ts';
import { eventKey } from '../../store/encoding/keyspace.ts';
import { mapPage } from '../../store/page.ts';
import type { NotificationStore } from '../../store/notification-store.ts';
import { CollectedPage } from '../answer/collected-page.ts';
import { listAnswer, strictPageRequest } from '../answer/pagination.ts';
import { selectedPage, selectionOf } from '../answer/selected-page.ts';
import { TimeSlices } from '../answer/time-slices.ts';
import { lists, PAGE, SELECTORS } from '../openapi/descriptions.ts';
import { enumParameter } from '../request/query-parameters.ts';
import { type Answer, param, type Route, type RouteRequest } from '../request/route.ts';
import { type EventSummary, EventSummarySchema, eventSummary } from './event-summary.ts';

/** The maximum number of events that one request can name. */
const MAX_NAMED = 500;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** How many of the latest notifications of an event are searched for the outcome of each handler. */
const MAX_NOTIFICATIONS = 20;

export interface EventSummaryPorts {
  events: Pick<EventStore, 'get' | 'list'>;
  incidents: Pick<IncidentStore, 'incidentOf' | 'list'>;
  notifications: Pick<NotificationStore, 'ofEvent'>;
  /** The names of the silences that apply to an event now. */
  silencesNow(event: CheckEvent): string[];
}

/** Shows events as lists need them: a hundredth of their size, with the problem, its silences and its notifications. */
export function eventSummaryRoutes(ports: EventSummaryPorts): Route[] {
  const { events, incidents } = ports;
  const summaryOf = (event: CheckEvent): EventSummary => summaryFrom(ports, event);

  function named(namespace: string, names: readonly string[]): Answer {
    return listAnswer(summariesOf(namespace, names.map(addressIn)), undefined);
  }

  function* summariesOf(namespace: string, addresses: readonly (readonly [string, string])[]): Iterable<EventSummary> {
    for (const [entity, check] of addresses) {
      const event = events.get(namespace, entity, check);
      if (event !== undefined) yield summaryOf(event);
    }
  }

  /** The open events in order; passing ones are not read. */
  async function open(namespace: string, { query, isDisconnected }: RouteRequest): Promise<Answer> {
    const { limit = DEFAULT_LIMIT, from } = strictPageRequest(query);
    const isSelected = selectionOf('events', query) ?? (() => true);
    const wanted = Math.min(limit, MAX_LIMIT);
    const found = new CollectedPage<EventSummary>();
    const slices = new TimeSlices();
    let lastKey: string | undefined;
    for (const { event } of incidents.list({ namespace }, { after: from })) {
      if (found.items.length === wanted || found.isFull) return listAnswer(found.items, lastKey);
      lastKey = eventKey(namespace, event.entity.metadata.name ?? '', event.check.metadata.name ?? '');
      if (isSelected(event)) found.add(summaryOf(event));
      await slices.pause();
      if (isDisconnected()) break;
    }
    return listAnswer(found.items, undefined);
  }

  async function all(namespace: string, request: RouteRequest): Promise<Answer> {
    strictPageRequest(request.query);
    const { items, lastKey, isSelected } = await selectedPage('events', request, (page) =>
      events.list({ namespace }, { ...page, limit: Math.min(page.limit ?? DEFAULT_LIMIT, MAX_LIMIT) }),
    );
    const selected = isSelected === undefined ? items : only(items, isSelected);
    return listAnswer(mapPage({ items: selected, lastKey }, summaryOf).items, lastKey);
  }

  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/event-summaries',
      access: { resource: 'events', verb: 'list' },
      reads: 'nothing',
      description: {
        ...lists('events, each as one line', EventSummarySchema, {
          ...PAGE,
          ...SELECTORS,
          state: Type.Enum(['open', 'all'], { description: '`open`: only those that fail or flap; `all` by default' }),
          event: Type.String({
            description: `Only this one, as \`<entity>/<check>\`; up to ${MAX_NAMED} times, without the other parameters`,
          }),
        }),
        tag: 'events',
      },
      handle: (request) => {
        const { query } = request;
        const namespace = param(request, 'namespace');
        const names = query.getAll('event');
        if (names.length > MAX_NAMED) throw new InvalidResource(`event must be given at most ${MAX_NAMED} times`);
        if (names.length > 0) return named(namespace, names);
        return enumParameter(query, 'state', ['open', 'all']) === 'open'
          ? open(namespace, request)
          : all(namespace, request);
      },
    },
  ];
}

function* only<T>(items: Iterable<T>, isSelected: (item: T) => boolean): Iterable<T> {
  for (const item of items) if (isSelected(item)) yield item;
}

function addressIn(name: string): [entity: string, check: string] {
  const [entity = '', check = '', ...rest] = name.split('/');
  if (!isName(entity) || !isName(check) || rest.length > 0) {
    throw new InvalidResource('event must be <entity>/<check>');
  }
  return [entity, check];
}

function summaryFrom({ incidents, notifications, silencesNow }: EventSummaryPorts, event: CheckEvent): EventSummary {
  const { namespace = '', name: entity = '' } = event.entity.metadata;
  const { name: check = '' } = event.check.metadata;
  const address = { namespace, entity, check };
  const incident = isOpen(event.check.status, event.check.state)
    ? incidents.incidentOf(namespace, entity, check)
    : undefined;
  return eventSummary({
    event,
    incident,
    silenced: silencesNow(event),
    notifications: incident === undefined ? [] : notifications.ofEvent(address, MAX_NOTIFICATIONS),
  });
}
