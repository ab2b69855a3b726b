import { Type } from 'typebox';
import type { Page, PageRequest } from '../../store/page.ts';
import { json } from '../answer/answers.ts';
import { lists, nullable, PAGE } from '../openapi/descriptions.ts';
import { listAnswer, strictPageRequest } from '../answer/pagination.ts';
import { type Answer, param, type Route, type RouteRequest } from '../request/route.ts';

const atS = () => nullable(Type.Integer({ description: 'Unix seconds' }));

const SessionSchema = Type.Object(
  {
    id: Type.String(),
    namespace: Type.String(),
    agent: Type.String(),
    address: Type.String(),
    user: Type.String(),
    encoding: Type.Enum(['json', 'protobuf']),
    opened_at: atS(),
    state: Type.String(),
    silent_ms: Type.Integer(),
    last_frame_at: atS(),
    last_keepalive_at: atS(),
    clock_skew_seconds: nullable(
      Type.Number({ description: 'At the last keepalive, in seconds; positive when the clock of the agent is ahead' }),
    ),
    queue: nullable(Type.Object({ id: Type.String(), acknowledged: nullable(Type.Integer()) })),
    dropped_requests: Type.Integer(),
    refused: Type.Integer({ description: 'Rejected messages since the backend started' }),
    last_refusal: nullable(Type.Object({ at: atS(), reason: Type.String() })),
    problems: Type.Array(Type.String()),
  },
  { $id: 'mon/v1.Session' },
);
const RingsSchema = Type.Object({}, { additionalProperties: Type.Array(Type.String()), $id: 'mon/v1.Rings' });

export interface SessionRoutePorts {
  /** Open connections of agents in a namespace, or in all namespaces. */
  sessions(namespace: string | undefined, page: PageRequest): Page<object>;
  /** Agents in the round-robin ring of each subscription. */
  rings(namespace: string): ReadonlyMap<string, string[]>;
}

const ACCESS = { resource: 'sessions', verb: 'list' } as const;

/** Lists connected agents and the problems of their connections. */
export function sessionRoutes({ sessions, rings }: SessionRoutePorts): Route[] {
  const list = (namespace: string | undefined, { query }: RouteRequest): Answer => {
    const { items, lastKey } = sessions(namespace, strictPageRequest(query));
    return listAnswer(items, lastKey);
  };
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/sessions',
      access: ACCESS,
      reads: 'nothing',
      description: lists('open connections of agents in all namespaces', SessionSchema, PAGE),
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/sessions',
      access: ACCESS,
      reads: 'nothing',
      description: lists('open connections of agents in a namespace', SessionSchema, PAGE),
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/rings',
      access: ACCESS,
      reads: 'nothing',
      description: {
        summary: 'List the agents of each round-robin subscription, in order',
        answers: { 200: { schema: RingsSchema } },
      },
      handle: (request) => json(Object.fromEntries(rings(param(request, 'namespace')))),
    },
  ];
}
