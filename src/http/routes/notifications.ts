import { setImmediate as nextTick } from 'node:timers/promises';
import type { Commands } from '../../actors/administration/commands.ts';
import type { NextAttempt } from '../../pipeline/redelivery.ts';
import { Conflict, NotFound } from '../../resources/errors.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { NotificationStore } from '../../store/notification-store.ts';
import type { WaitingNotification } from '../../store/waiting-notifications.ts';
import { json, NO_CONTENT } from '../answer/answers.ts';
import { EMPTY, lists } from '../openapi/descriptions.ts';
import { type Answer, param, type Route, type RouteRequest } from '../request/route.ts';
import {
  NOTIFICATION_PARAMETERS,
  type NotificationPageRequest,
  notificationPageRequest,
} from './notification-filter.ts';
import { type Slice, slicedPage } from './notification-pages.ts';
import { NotificationSchema, shown, shownWaiting } from './notification-schema.ts';

/** The maximum number of notifications in the list of an event. The search returns all of them, in pages. */
const MAX_LISTED = 100;
const SEARCH = '/api/mon/v1/namespaces/:namespace/notifications';
const ONE = `${SEARCH}/:id`;
const TAG = 'notifications';

export interface NotificationRoutePorts {
  events: Pick<EventStore, 'get'>;
  notifications: NotificationStore;
  commands: Pick<Commands, 'replayNotification'>;
  /** The next attempt of an entry of the outbox; undefined for one that was not tried yet or runs. */
  nextAttempt(outboxKey: string): NextAttempt | undefined;
}

/** Shows the outcomes of the handlers of events, and replays dead letters. */
export function notificationRoutes({ events, notifications, commands, nextAttempt }: NotificationRoutePorts): Route[] {
  const waitingItem = (waiting: WaitingNotification): object => shownWaiting(waiting, nextAttempt(waiting.outboxKey));

  function slice(
    namespace: string,
    { filter, isWaiting }: NotificationPageRequest,
    limit: number,
    after?: string,
  ): Slice {
    const query = { ...filter, namespace, limit, ...(after === undefined ? {} : { after }) };
    if (isWaiting) {
      const { found, position } = notifications.waiting(query);
      return { items: found.map((one) => ({ position: one.outboxKey, item: waitingItem(one) })), position };
    }
    const { found, position } = notifications.search(query);
    return { items: found.map((one) => ({ position: one.position, item: shown(one.notification) })), position };
  }

  /** Searches the whole outbox in parts, with other work between them. */
  async function waitingWith(namespace: string, id: string): Promise<WaitingNotification | undefined> {
    for (let after: string | undefined; ;) {
      const { found, position } = notifications.waiting({ namespace, id, limit: 1, ...(after && { after }) });
      if (found[0] !== undefined || position === undefined) return found[0];
      after = position;
      await nextTick();
    }
  }

  const search = (request: RouteRequest): Promise<Answer> => {
    const page = notificationPageRequest(request.query);
    const namespace = param(request, 'namespace');
    return slicedPage((after, limit) => slice(namespace, page, limit, after), page, request.isDisconnected);
  };

  const show = async (request: RouteRequest): Promise<Answer> => {
    const [namespace, id] = [param(request, 'namespace'), param(request, 'id')];
    const waiting = await waitingWith(namespace, id);
    if (waiting !== undefined) return json(waitingItem(waiting));
    const stored = notifications.get(namespace, id);
    if (stored === undefined) throw new NotFound(`notification ${id} not found in the namespace ${namespace}`);
    return json(shown(stored));
  };

  const replay = async (request: RouteRequest): Promise<Answer> => {
    const [namespace, id] = [param(request, 'namespace'), param(request, 'id')];
    if (notifications.get(namespace, id) === undefined && (await waitingWith(namespace, id)) !== undefined) {
      throw new Conflict('the notification is waiting');
    }
    await commands.replayNotification(namespace, id, request.caller.username);
    return NO_CONTENT;
  };

  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/events/:entity/:check/notifications',
      access: { resource: 'events', verb: 'get', nameFrom: ['entity', 'check'] },
      reads: 'nothing',
      description: {
        ...lists(`the latest ${MAX_LISTED} handler results of an event, oldest first`, NotificationSchema, {}),
        tag: TAG,
      },
      handle: (request) => {
        const [namespace, entity, check] = [
          param(request, 'namespace'),
          param(request, 'entity'),
          param(request, 'check'),
        ];
        const address = { namespace, entity, check };
        const listed = notifications.ofEvent(address, MAX_LISTED);
        if (listed.length === 0 && events.get(namespace, entity, check) === undefined)
          throw new NotFound(`event ${namespace}/${entity}/${check} not found`);
        return json(listed.map((notification) => shown({ ...address, notification })));
      },
    },
    {
      method: 'GET',
      path: SEARCH,
      access: { resource: 'events', verb: 'list' },
      reads: 'nothing',
      description: {
        ...lists('what became of the handlers of events, newest first', NotificationSchema, NOTIFICATION_PARAMETERS),
        tag: TAG,
      },
      handle: search,
    },
    {
      method: 'GET',
      path: ONE,
      access: { resource: 'events', verb: 'list' },
      reads: 'nothing',
      description: { summary: 'Show a notification', tag: TAG, answers: { 200: { schema: NotificationSchema } } },
      handle: show,
    },
    {
      method: 'POST',
      path: `${ONE}/replay`,
      // The path names no event: only a right to events of all names, or to this id, covers it.
      access: { resource: 'events', verb: 'update', nameFrom: ['id'] },
      reads: 'nothing',
      description: {
        summary: 'Run the handler of a dead letter again, with the same notification id',
        tag: TAG,
        answers: { 204: EMPTY },
        errors: ['conflict'],
      },
      handle: replay,
    },
  ];
}
