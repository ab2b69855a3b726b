import { Type } from 'typebox';
import type { MetricSeries } from '../../actors/events/metric-history.ts';
import type { Clock } from '../../ports/clock.ts';
import { NotFound } from '../../resources/errors.ts';
import type { EventStore } from '../../store/event-store.ts';
import { eventKey } from '../../store/encoding/keyspace.ts';
import { json } from '../answer/answers.ts';
import { param, type Route } from '../request/route.ts';

const MS = 1_000;

const SeriesSchema = Type.Object(
  {
    name: Type.String(),
    tags: Type.Record(Type.String(), Type.String()),
    samples: Type.Array(
      Type.Object({ at: Type.Integer({ description: 'Unix seconds, when it was received' }), value: Type.Number() }),
      { description: 'At most one per 30 seconds, oldest first' },
    ),
  },
  { $id: 'mon/v1.MetricSeries' },
);

export interface EventMetricPorts {
  events: Pick<EventStore, 'get'>;
  eventMetrics: { of(key: string, nowS: number): readonly MetricSeries[] };
  clock: Clock;
}

/** Shows the metrics of an event over the last hour. */
export function eventMetricRoutes({ events, eventMetrics, clock }: EventMetricPorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/events/:entity/:check/metrics',
      access: { resource: 'events', verb: 'get', nameFrom: ['entity', 'check'] },
      reads: 'nothing',
      description: {
        summary: 'Show the metrics of an event over the last hour',
        answers: { 200: { schema: Type.Array(SeriesSchema) } },
      },
      handle: (request) => {
        const [namespace, entity, check] = [
          param(request, 'namespace'),
          param(request, 'entity'),
          param(request, 'check'),
        ];
        const key = eventKey(namespace, entity, check);
        if (events.get(namespace, entity, check) === undefined) throw new NotFound(`event ${key} not found`);
        return json(eventMetrics.of(key, Math.floor(clock.nowMs() / MS)));
      },
    },
  ];
}
