import { NotFound } from '../../resources/errors.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { NotificationStore } from '../../store/notification-store.ts';
import { json } from '../answer/answers.ts';
import { lists } from '../openapi/descriptions.ts';
import { param, type Route } from '../request/route.ts';
import { NotificationSchema, shown } from './notification-schema.ts';

/** Notifications of an event that are listed at once. The search returns all of them, in pages. */
const MAX_LISTED = 100;

export interface NotificationRoutePorts {
  events: Pick<EventStore, 'get'>;
  notifications: Pick<NotificationStore, 'ofEvent'>;
}

/** Lists what became of the handlers of events. */
export function notificationRoutes({ events, notifications }: NotificationRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/events/:entity/:check/notifications',
      access: { resource: 'events', verb: 'get', nameFrom: ['entity', 'check'] },
      reads: 'nothing',
      description: lists(`the latest ${MAX_LISTED} handler results of an event, oldest first`, NotificationSchema, {}),
      handle: (request) => {
        const [namespace, entity, check] = [
          param(request, 'namespace'),
          param(request, 'entity'),
          param(request, 'check'),
        ];
        const address = { namespace, entity, check };
        const listed = notifications.ofEvent(address, MAX_LISTED);
        if (listed.length === 0 && events.get(namespace, entity, check) === undefined) throw new NotFound();
        return json(listed.map((notification) => shown({ ...address, notification })));
      },
    },
  ];
}
