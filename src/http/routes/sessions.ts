import type { Page, PageRequest } from '../../store/page.ts';
import { json } from '../answers.ts';
import { listAnswer, pageRequest } from '../pagination.ts';
import { type Answer, param, type Route, type RouteRequest } from '../route.ts';

export interface SessionRoutePorts {
  /** Open connections of agents, as they are shown; of all namespaces when none is given. */
  sessions(namespace: string | undefined, page: PageRequest): Page<object>;
  /** Agents that take turns, by subscription. */
  rings(namespace: string): ReadonlyMap<string, string[]>;
}

const ACCESS = { resource: 'sessions', verb: 'list' } as const;

/** Which agents are connected, and what is wrong with them. */
export function sessionRoutes({ sessions, rings }: SessionRoutePorts): Route[] {
  const list = (namespace: string | undefined, { query }: RouteRequest): Answer => {
    const { items, lastKey } = sessions(namespace, pageRequest(query));
    return listAnswer(items, lastKey);
  };
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/sessions',
      access: ACCESS,
      reads: 'nothing',
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/sessions',
      access: ACCESS,
      reads: 'nothing',
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/rings',
      access: ACCESS,
      reads: 'nothing',
      handle: (request) => json(Object.fromEntries(rings(param(request, 'namespace')))),
    },
  ];
}
