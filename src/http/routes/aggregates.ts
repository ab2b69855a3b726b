import { Type } from 'typebox';
import { type AggregateSample, type AggregateSummary, SEVERITIES } from '../../actors/aggregates/aggregate.ts';
import { json } from '../answer/answers.ts';
import { param, type Route } from '../request/route.ts';

const NAMESPACE = '/api/mon/v1/namespaces/:namespace/aggregates';

const SampleSchema = Type.Object({
  at: Type.Integer({ description: 'Unix seconds' }),
  ...Object.fromEntries(SEVERITIES.map((name) => [name, Type.Integer()])),
});

const AggregateSchema = Type.Object(
  {
    name: Type.String(),
    clients: Type.Integer({ description: 'Entities' }),
    checks: Type.Integer(),
    results: Type.Object(
      Object.fromEntries([...SEVERITIES, 'total' as const, 'stale' as const].map((name) => [name, Type.Integer()])),
    ),
    history: Type.Array(SampleSchema, { description: 'Samples of the last hour, one a minute, the oldest first' }),
    members: Type.Array(Type.Object({ check: Type.String(), entities: Type.Array(Type.String()) })),
  },
  { $id: 'mon/v1.Aggregate' },
);

export interface AggregateRoutePorts {
  aggregates: {
    names(namespace: string): string[];
    summary(namespace: string, name: string): AggregateSummary | undefined;
    history(namespace: string, name: string): readonly AggregateSample[];
    checks(namespace: string, name: string): { name: string; clients: string[] }[] | undefined;
  };
}

/** Lists the aggregates of a namespace with their counters and members. */
export function aggregateRoutes({ aggregates }: AggregateRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: 'events', verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'List the aggregates of results in a namespace',
        answers: { 200: { schema: Type.Array(AggregateSchema) } },
      },
      handle: (request) => {
        const namespace = param(request, 'namespace');
        return json(
          aggregates.names(namespace).flatMap((name) => {
            const summary = aggregates.summary(namespace, name);
            if (summary === undefined) return [];
            const checks = aggregates.checks(namespace, name) ?? [];
            const members = checks.map(({ name: check, clients }) => ({ check, entities: clients }));
            return [{ name, ...summary, history: aggregates.history(namespace, name), members }];
          }),
        );
      },
    },
  ];
}
