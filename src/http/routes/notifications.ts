import { type Static, Type } from 'typebox';
import { NotFound } from '../../resources/errors.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { Notification } from '../../store/records.ts';
import { json } from '../answer/answers.ts';
import { lists, nullable } from '../openapi/descriptions.ts';
import { param, type Route } from '../request/route.ts';

const NotificationSchema = Type.Object(
  {
    id: Type.String({ description: 'UUID' }),
    handler: Type.String(),
    outcome: Type.Enum(['handled', 'failed', 'denied', 'skipped']),
    reason: Type.String({
      description: 'Why the event was denied or skipped or the handler failed, or the output of the handler',
    }),
    status: nullable(Type.Integer({ description: 'Exit status of a command' })),
    decided_at: Type.Number({ description: 'Unix seconds with millisecond precision' }),
    at: Type.Number({ description: 'Unix seconds with millisecond precision' }),
    duration: Type.Number({ description: 'Seconds' }),
  },
  { $id: 'mon/v1.Notification' },
);

export interface NotificationRoutePorts {
  events: Pick<EventStore, 'get' | 'notifications'>;
}

/** Lists the handlers selected for an event, and the outcome of each. */
export function notificationRoutes({ events }: NotificationRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/events/:entity/:check/notifications',
      access: { resource: 'events', verb: 'get', nameFrom: ['entity', 'check'] },
      reads: 'nothing',
      description: lists('handler results of an event', NotificationSchema, {}),
      handle: (request) => {
        const [namespace, entity, check] = [
          param(request, 'namespace'),
          param(request, 'entity'),
          param(request, 'check'),
        ];
        const notifications = events.notifications({ namespace, entity, check });
        if (notifications.length === 0 && events.get(namespace, entity, check) === undefined) throw new NotFound();
        return json(notifications.map(shown));
      },
    },
  ];
}

/** Unix seconds with millisecond precision. */
function shown({
  id,
  handler,
  outcome,
  reason,
  status,
  decidedAtMs,
  atMs,
  durationMs,
}: Notification): Static<typeof NotificationSchema> {
  return {
    id,
    handler,
    outcome,
    reason,
    status: status ?? null,
    decided_at: decidedAtMs / 1_000,
    at: atMs / 1_000,
    duration: durationMs / 1_000,
  };
}
