import { NotFound } from '../../resources/errors.ts';
import { allowsJson } from '../request/preferred-type.ts';
import type { Answer } from '../request/route.ts';
import { type DashboardCounts, DATACENTER_COUNTS } from './dashboard-counts.ts';
import type { Datacenter, Datacenters } from './datacenters.ts';
import { empty, jsonOf } from './earlier-answers.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import { infoOf, problemsOf, type Service } from './service.ts';

export interface DashboardRoutePorts {
  datacenters: Datacenters;
  service: Service;
  counts: DashboardCounts;
  /** Unix seconds. */
  nowS(): number;
}

const NO_LIMITS = { minConsumers: undefined, maxMessages: undefined };
const HEALTHY = 'ok';
/** The status of a datacenter that cannot be used. */
const CRITICAL = 2;
/** The name of the dashboard among the parts of the service, which clients look for. */
const OWN_PART = 'uchiwa';
/** The options of users, with the values that the dashboard of the first generation has by default. */
const USER_OPTIONS = {
  DateFormat: 'YYYY-MM-DD HH:mm:ss',
  DefaultTheme: 'uchiwa-default',
  DisableNoExpiration: false,
  Favicon: '',
  LogoURL: '',
  Refresh: 1_000,
  RequireSilencingReason: false,
  SilenceDurations: [0.25, 1, 24],
};

/** The routes that only the dashboard of the first generation has. Source: spec/05 10. */
export function earlierDashboardRoutes({ datacenters, service, counts, nowS }: DashboardRoutePorts): EarlierRoute[] {
  const visible = (request: EarlierRequest): Datacenter[] => datacenters.allowed(request, 'events', 'list');

  const partsOf = (request: EarlierRequest): Record<string, unknown> => {
    const problems = problemsOf(service, NO_LIMITS);
    const isHealthy = problems.length === 0;
    const state = { output: isHealthy ? HEALTHY : problems.join(', '), status: isHealthy ? 0 : CRITICAL };
    return { sensu: Object.fromEntries(visible(request).map(({ dc }) => [dc, state])), [OWN_PART]: HEALTHY };
  };
  const health = (request: EarlierRequest, part?: string): Answer => {
    const isHealthy = problemsOf(service, NO_LIMITS).length === 0;
    const parts = partsOf(request);
    return jsonOf(isHealthy ? 200 : 503, part !== undefined && Object.hasOwn(parts, part) ? parts[part] : parts);
  };

  const datacenter = async ({ dc, namespace }: Datacenter, isDisconnected: () => boolean): Promise<object> => {
    const metrics: Record<string, number> = {};
    for (const kind of DATACENTER_COUNTS) metrics[kind] = await counts.total(kind, namespace, isDisconnected);
    return { name: dc, info: infoOf(service, nowS()), metrics };
  };

  return [
    { method: 'GET', path: '/health', isPublic: true, handle: (request) => health(request) },
    {
      method: 'GET',
      path: '/health/:path*',
      isPublic: true,
      handle: (request) => health(request, request.params['path']),
    },
    {
      method: 'GET',
      path: '/datacenters',
      async handle(request) {
        const shown: object[] = [];
        for (const one of visible(request)) {
          if (request.isDisconnected()) break;
          shown.push(await datacenter(one, request.isDisconnected));
        }
        return jsonOf(200, shown);
      },
    },
    {
      method: 'GET',
      path: '/datacenters/:dc',
      async handle(request) {
        const found = visible(request).find(({ dc }) => dc === request.params['dc']);
        if (found === undefined) throw new NotFound();
        return jsonOf(200, await datacenter(found, request.isDisconnected));
      },
    },
    {
      method: 'GET',
      path: '/subscriptions',
      async handle(request) {
        const clients = datacenters.allowed(request, 'entities', 'list');
        const shown: { dc: string; name: string }[] = [];
        for (const { dc, namespace } of clients) {
          const names = await counts.subscriptions(namespace, request.isDisconnected);
          shown.push(...names.map((name) => ({ dc, name })));
        }
        return jsonOf(200, shown);
      },
    },
    {
      method: 'GET',
      path: '/subscriptions/:subscription',
      async handle(request) {
        for (const { namespace } of datacenters.allowed(request, 'entities', 'list')) {
          const names = await counts.subscriptions(namespace, request.isDisconnected);
          if (names.includes(request.params['subscription'] ?? '')) return empty(200);
        }
        throw new NotFound();
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      async handle(request) {
        // Prometheus has metrics of its own at the port of the REST API.
        if (!allowsJson(request.headers.accept)) throw new NotFound();
        return jsonOf(200, await counts.metrics(visible(request), request.isDisconnected));
      },
    },
    {
      method: 'GET',
      path: '/config',
      handle: (request) =>
        jsonOf(200, { Dashboard: USER_OPTIONS, Sensu: visible(request).map(({ dc }) => ({ Name: dc })) }),
    },
    { method: 'GET', path: '/config/users', isPublic: true, handle: () => jsonOf(200, USER_OPTIONS) },
  ];
}
