import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Commands } from '../../actors/administration/commands.ts';
import type { Aggregates } from '../../actors/aggregates/aggregates.ts';
import type { Auth } from '../../auth/auth.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { Forbidden, NotFound, StoreUnavailable, Unauthenticated } from '../../resources/errors.ts';
import { EntityStore } from '../../store/entity-store.ts';
import { EventStore } from '../../store/event-store.ts';
import { IncidentStore } from '../../store/incident-store.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { StashStore } from '../../store/stash-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import { errorAnswer } from '../answer/errors.ts';
import { isClientDisconnect } from '../answer/send.ts';
import { normalizedPath, pathOf } from '../request/request-path.ts';
import { parseSingleObject, readBody } from '../request/json-body.ts';
import type { Answer } from '../request/route.ts';
import { earlierAggregateRoutes } from './aggregate-routes.ts';
import { earlierClientRoutes } from './client-routes.ts';
import { CookieLogins } from './cookie-logins.ts';
import { Datacenters } from './datacenters.ts';
import { empty, jsonOf } from './earlier-answers.ts';
import { EarlierAuthentication, type EarlierAuthenticationPorts, UNAUTHENTICATED } from './earlier-authentication.ts';
import { earlierQuery } from './earlier-query.ts';
import type { EarlierRequestCounts } from './earlier-request-counts.ts';
import { EarlierView } from './earlier-view.ts';
import type { EarlierAnswer, EarlierRoute } from './earlier-route.ts';
import { earlierEventRoutes } from './event-routes.ts';
import { DASHBOARD, type Flavour } from './flavour.ts';
import { earlierLoginRoutes } from './login-routes.ts';
import { assertIntegerLiterals } from './integer-literals.ts';
import { earlierResultRoutes } from './result-routes.ts';
import { earlierCheckRoutes } from './check-routes.ts';
import { earlierSilenceRoutes } from './silence-routes.ts';
import { earlierStashRoutes } from './stash-routes.ts';
import { earlierHealthRoutes, earlierServiceRoutes } from './service-routes.ts';
import type { Service } from './service.ts';
import { earlierDashboardRoutes } from './dashboard-routes.ts';
import { DashboardCounts } from './dashboard-counts.ts';
import { type FoundRoute, RouteTable } from './route-table.ts';
import { isForgeable } from './other-sites.ts';
import { sendAnswer } from './send-answer.ts';
import { unlessUnchanged } from './unless-unchanged.ts';

export interface EarlierApiPorts extends Omit<EarlierAuthenticationPorts, 'auth' | 'resources' | 'logins'> {
  store: TransactionalStore;
  resources: ResourceStore;
  commands: Commands;
  aggregates: Aggregates;
  auth: Auth;
  flavour: Flavour;
  service: Service;
  /** The datacenters by namespace; every namespace when there are none. */
  datacenters: Readonly<Record<string, string>>;
  corsHeaders: Readonly<Record<string, string>>;
  requestLimitBytes: number;
  requests: EarlierRequestCounts;
  matchEntitySubscriptions: boolean;
  backendVersion: string;
  clock: Clock;
  log: Log;
}

/** Older dashboards look for this text when the store is not available. */
const NO_STORE = { error: 'not connected to redis' };
const REALM = { 'WWW-Authenticate': 'Basic realm="Restricted Area"' };
const NO_BODY = {};
/** Clients that send it, and accept JSON, get a description in the body of an error. */
const VERBOSE = 'verbose';

export interface EarlierApi {
  callback: RequestListener;
  /** Whether the path of a request is one of this API. The dashboard has other paths too. */
  serves(request: IncomingMessage): boolean;
  routes: readonly Pick<EarlierRoute, 'method' | 'path' | 'isPublic'>[];
}

/** Creates the API of the first generation. Authentication comes before routing. Source: spec/05 2.1. */
export function createEarlierApi(ports: EarlierApiPorts): EarlierApi {
  const { corsHeaders } = ports;
  const logins = ports.flavour === DASHBOARD ? new CookieLogins(ports.clock) : undefined;
  const authentication = new EarlierAuthentication({ ...ports, logins });
  const all = routesOf(ports, logins && earlierLoginRoutes({ authentication, logins }));
  const routes = new RouteTable(all);
  const answer = answering(ports, authentication);
  return {
    callback: (request, response) => {
      response.setHeader('X-Request-ID', request.headers['x-request-id'] ?? randomUUID());
      response.setHeader('Deprecation', 'true');
      for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
      void respond(response, routes.find(request.method ?? 'GET', normalizedPath(request)), answer, ports);
    },
    serves: (request) => routes.find('GET', pathOf(request)) !== undefined,
    routes: all,
  };
}

type Answering = (request: IncomingMessage, found: FoundRoute | undefined) => Promise<EarlierAnswer>;

async function respond(
  response: ServerResponse,
  found: FoundRoute | undefined,
  answer: Answering,
  { flavour, requests, log }: Pick<EarlierApiPorts, 'flavour' | 'requests' | 'log'>,
): Promise<void> {
  const { req: request } = response;
  try {
    const sent = await answer(request, found)
      .then((made) => unlessUnchanged(request, made))
      .catch((error: unknown) => answerOf(error, request, log));
    requests.add(flavour.name, nameOf(found), sent.status);
    await sendAnswer(response, sent, flavour);
  } catch (err) {
    if (isClientDisconnect(err)) log.debug({ err }, 'client disconnected before the response was sent');
    else log.warn({ err }, 'could not send the response');
    response.destroy();
  }
}

const nameOf = (found: FoundRoute | undefined): string =>
  found !== undefined && 'route' in found ? `${found.route.method} ${found.route.path}` : 'unknown';

function answering(ports: EarlierApiPorts, authentication: EarlierAuthentication): Answering {
  return async (request, found) => {
    const { method = 'GET', url = '/' } = request;
    if (method === 'OPTIONS') return empty(200);
    if (isForgeable(method, request.headers)) throw new Forbidden('a page of another site must send JSON');
    const isPublic = found !== undefined && 'route' in found && found.route.isPublic === true;
    const caller = await authentication.callerOf(request).catch((error: unknown) => {
      if (isPublic && error instanceof Unauthenticated) return UNAUTHENTICATED;
      throw error;
    });
    if (found === undefined) throw new NotFound();
    if ('allowed' in found) return { status: 405, headers: { Allow: found.allowed } };
    const { route, params } = found;
    const body = route.method === 'POST' ? await bodyOf(request, route, ports.requestLimitBytes) : NO_BODY;
    const { headers, socket } = request;
    return route.handle({
      params,
      query: earlierQuery(url),
      caller,
      body: { ...body },
      path: pathOf(request),
      headers,
      remoteAddress: socket.remoteAddress ?? '',
      isDisconnected: () => socket.destroyed,
      isSecure: socket instanceof TLSSocket,
    });
  };
}

/** @throws InvalidResource, TooLarge */
async function bodyOf(
  request: IncomingMessage,
  { integers = [] }: Pick<EarlierRoute, 'integers'>,
  limitBytes: number,
): Promise<object> {
  const bytes = await readBody(request, limitBytes);
  const body = parseSingleObject(bytes);
  assertIntegerLiterals(bytes.toString(), integers);
  return body;
}

function routesOf(ports: EarlierApiPorts, loginRoutes: readonly EarlierRoute[] = []): EarlierRoute[] {
  const { store, resources, commands, aggregates, flavour, service, clock } = ports;
  const { matchEntitySubscriptions, backendVersion } = ports;
  const datacenters = new Datacenters(resources, ports.datacenters);
  const visible = new VisibleStore(store);
  const incidents = new IncidentStore(store);
  const entities = new EntityStore(store);
  const events = new EventStore(store);
  const stashes = new StashStore(store);
  const view = new EarlierView({ reader: visible, incidents, clock, matchEntitySubscriptions, backendVersion });
  const nowS = (): number => view.nowS;
  const eventKeysOfCheck = store.eventKeysOfCheck.bind(store);
  const common = { datacenters, store: visible, resources, entities, events, incidents, stashes, aggregates, view };
  const parts = { ...common, commands, flavour, service, nowS, eventKeysOfCheck };
  return [
    ...earlierEventRoutes(parts),
    ...earlierAggregateRoutes(parts),
    ...earlierResultRoutes(parts),
    ...earlierClientRoutes(parts),
    ...earlierCheckRoutes(parts),
    ...earlierSilenceRoutes(parts),
    ...earlierStashRoutes(parts),
    ...earlierServiceRoutes(parts),
    ...loginRoutes,
    ...(flavour === DASHBOARD
      ? earlierDashboardRoutes({ ...parts, counts: new DashboardCounts(parts) })
      : earlierHealthRoutes(parts)),
  ];
}

/** Errors have no body, except that of a store that cannot be written, and unless the client asks for one. */
function answerOf(error: unknown, request: IncomingMessage, log: Log): Answer {
  if (error instanceof StoreUnavailable) return jsonOf(500, NO_STORE);
  const { method = 'GET' } = request;
  const described = errorAnswer(error, { log, request: { method, path: pathOf(request) }, asText: true });
  const { status, headers = {}, body } = described;
  const shown = wantsReasons(request) ? jsonOf(status, { error: body.trimEnd() }) : { status };
  return { ...shown, headers: { ...headers, ...(error instanceof Unauthenticated ? REALM : undefined) } };
}

const wantsReasons = ({ headers: { accept = '', 'x-errors': errors } }: IncomingMessage): boolean =>
  errors === VERBOSE && /\bapplication\/json\b/i.test(accept);
