import { Forbidden } from '../../resources/errors.ts';
import { earlierDefinition } from '../../rules/earlier-check.ts';
import { redactedDeep } from '../../rules/earlier-redaction.ts';
import { mapPage } from '../../store/page.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { Answer } from '../request/route.ts';
import type { Datacenters } from './datacenters.ts';
import { empty, jsonOf } from './earlier-answers.ts';
import { digitsIn } from './earlier-query.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import { infoOf, problemsOf, type Service } from './service.ts';

export interface ServiceRoutePorts {
  datacenters: Datacenters;
  resources: Pick<ResourceStore, 'lazyList'>;
  service: Service;
  /** Unix seconds. */
  nowS(): number;
}

/** The routes by which load balancers and dashboards watch the server of the data. */
export const earlierHealthRoutes = ({ service }: Pick<ServiceRoutePorts, 'service'>): EarlierRoute[] => [
  {
    method: 'GET',
    path: '/health',
    handle({ query }) {
      const limits = { minConsumers: digitsIn(query, 'consumers'), maxMessages: digitsIn(query, 'messages') };
      const problems = problemsOf(service, limits);
      return problems.length === 0 ? empty(204) : jsonOf(412, problems);
    },
  },
];

export const earlierServiceRoutes = (ports: ServiceRoutePorts): EarlierRoute[] => [
  { method: 'GET', path: '/info', handle: () => jsonOf(200, infoOf(ports.service, ports.nowS())) },
  { method: 'GET', path: '/settings', handle: (request) => settings(ports, request) },
];

/** The checks and handlers of the datacenters, without their secrets. @throws Forbidden for users who are not administrators */
function settings({ datacenters, resources }: ServiceRoutePorts, request: EarlierRequest): Answer {
  const { caller } = request;
  const isAdministrator = caller.may({ resource: 'clusterroles', verb: 'update', namespace: undefined, name: '' });
  if (!isAdministrator) throw new Forbidden('');
  const allowed = datacenters.allowed(request, 'checks', 'list');
  const checks = allowed.flatMap(({ namespace }) => {
    const { items } = mapPage(resources.lazyList('checks', namespace), (check) => check);
    return [...items].map((check) => [check.metadata.name ?? '', earlierDefinition(check)] as const);
  });
  const handlers = allowed.flatMap(({ namespace }) => {
    const { items } = mapPage(resources.lazyList('handlers', namespace), (handler) => handler);
    // The environment of a handler has secrets under names of its own.
    return [...items].map((handler) => [handler.metadata.name ?? '', { ...handler, env_vars: undefined }] as const);
  });
  return jsonOf(
    200,
    redactedDeep({ checks: Object.fromEntries(checks), handlers: Object.fromEntries(handlers) }, undefined),
  );
}
