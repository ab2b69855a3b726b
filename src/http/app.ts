import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Commands } from '../actors/administration/commands.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import type { EntityStore } from '../store/entity-store.ts';
import type { EventStore } from '../store/event-store.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { AccessControl } from '../auth/access-control.ts';
import { AccessTokens, type EllipticKeys, type TokenLifetimes } from '../auth/access-tokens.ts';
import { Authentication } from '../auth/authentication.ts';
import type { CredentialVerifier, PasswordHasher } from '../auth/credentials.ts';
import { type EntityUse, entityCountHeaders } from './answer/entity-count-headers.ts';
import { EntityTags } from './answer/entity-tag.ts';
import { handleErrors } from './answer/errors.ts';
import { LoginSessions } from '../auth/login-sessions.ts';
import { LoginThrottle } from '../auth/login-throttle.ts';
import { describeApi } from './openapi/openapi.ts';
import type { Route } from './request/route.ts';
import { type ActorRoutePorts, actorRoutes } from './routes/actors.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { authRoutes } from './routes/auth.ts';
import { checkHookRoutes } from './routes/check-hooks.ts';
import { type CheckRunPorts, checkRunRoutes } from './routes/check-runs.ts';
import { type ClusterRoutePorts, clusterRoutes } from './routes/cluster.ts';
import { allConfigurationRoutes } from './routes/configuration.ts';
import { docsRoutes } from './routes/docs.ts';
import { entityRoutes } from './routes/entities.ts';
import { eventRoutes } from './routes/events.ts';
import { graphqlRoutes } from './routes/graphql.ts';
import { type HandshakeRefusalRoutePorts, handshakeRefusalRoutes } from './routes/handshake-refusals.ts';
import { type LedgerRoutePorts, ledgerRoutes } from './routes/ledger.ts';
import { type MachineRoutePorts, machineRoutes } from './routes/machines.ts';
import { METRICS_ROUTE, type MetricsPorts, serveMetrics } from './routes/metrics.ts';
import { namespaceRoutes } from './routes/namespaces.ts';
import { silencedRoutes } from './routes/silenced.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { type SessionRoutePorts, sessionRoutes } from './routes/sessions.ts';
import { type StatusRoutePorts, statusRoutes } from './routes/status.ts';
import { tessenRoutes } from './routes/tessen.ts';
import { ticketRoutes } from './routes/tickets.ts';
import { userRoutes } from './routes/users.ts';
import { normalizeTarget, useRoutes } from './routing.ts';
import { isClientDisconnect } from './answer/send.ts';
import { OPEN_GATE, StartGate } from './request/start-gate.ts';
import { Tickets } from '../auth/tickets.ts';

export interface ApiPorts
  extends
    LedgerRoutePorts,
    StatusRoutePorts,
    ClusterRoutePorts,
    SessionRoutePorts,
    MachineRoutePorts,
    Pick<ActorRoutePorts, 'actors'>,
    HandshakeRefusalRoutePorts,
    MetricsPorts,
    Pick<CheckRunPorts, 'scheduleStatus'> {
  commands: Commands;
  /** Defaults to the built-in kinds. */
  configurationKinds?: ConfigurationKinds | undefined;
  resources: ResourceStore;
  entities: EntityStore;
  events: EventStore;
  credentials: CredentialVerifier & PasswordHasher;
  /** 32 random bytes, identical on all backends of a cluster. */
  tokenSecret: Uint8Array;
  /** When present, these keys sign tokens instead of the secret. */
  tokenKeys?: EllipticKeys | undefined;
  tokenLifetimes?: TokenLifetimes | undefined;
  clock: Clock;
  log: Log;
  /** Called for each response; costs one lookup. */
  entityUse(): EntityUse;
  /** Maximum size of a request body. */
  requestLimitBytes: number;
  /** After start, the API answers only health requests for this long. */
  serveWaitMs?: number | undefined;
}

export interface Api {
  callback: RequestListener;
  /** Serves the health and version routes only, without delay. */
  status: RequestListener;
  /** All routes, for generating the API description. */
  routes: readonly Route[];
  /** Tickets for the WebSockets of the API. */
  tickets: Tickets;
  tokens: AccessTokens;
  throttle: LoginThrottle;
  /** Must be called after a role or a binding is written, because access decisions use a cached policy. */
  rbacChanged(): void;
}

/** Creates the REST API as a request listener. The caller provides the server, its timeouts and TLS. */
export function createApi(ports: ApiPorts): Api {
  const { resources, clock, log, tokenSecret, tokenKeys, tokenLifetimes, requestLimitBytes } = ports;
  const tokens = new AccessTokens({ secret: tokenSecret, keys: tokenKeys, lifetimes: tokenLifetimes, clock });
  const sessions = new LoginSessions({ ...ports, tokens });
  const throttle = new LoginThrottle(clock);
  const access = new AccessControl(resources);
  const tickets = new Tickets({ resources, clock });
  const tags = new EntityTags(tokenSecret);
  const routes: Route[] = [
    ...eventRoutes({ ...ports, access }),
    ...notificationRoutes(ports),
    ...entityRoutes(ports),
    ...allConfigurationRoutes({ ...ports, access }),
    ...checkRunRoutes(ports),
    ...checkHookRoutes(ports),
    ...silencedRoutes(ports),
    ...apiKeyRoutes({ ...ports, access }),
    ...userRoutes({ ...ports, access, throttle }),
    ...namespaceRoutes({ ...ports, access }),
    ...ledgerRoutes(ports),
    ...actorRoutes(ports),
    ...machineRoutes(ports),
    ...sessionRoutes(ports),
    ...handshakeRefusalRoutes(ports),
    ...authRoutes({ ...ports, throttle, sessions, tokens }),
    ...statusRoutes(ports),
    ...clusterRoutes(ports),
    ...tessenRoutes(ports),
    ...graphqlRoutes(),
    ...ticketRoutes({ tickets }),
    ...docsRoutes({ document: () => describeApi([...routes, METRICS_ROUTE], ports.version) }),
  ];
  const authentication = new Authentication({ resources, sessions });
  const listenerFor = (served: readonly Route[], startGate: Pick<StartGate, 'refusal'>): RequestListener => {
    const koa = new Koa();
    koa.use(normalizeTarget).use(handleErrors(log)).use(serveMetrics(ports)).use(entityCountHeaders(ports.entityUse));
    useRoutes(koa, served, { authentication, access, startGate, tags, requestLimitBytes });
    koa.on('error', (err: unknown) => {
      if (isClientDisconnect(err)) log.debug({ err }, 'client disconnected before the response was sent');
      else log.warn({ err }, 'could not send the response');
    });
    const handle = koa.callback();
    return (request, response) => void handle(request, response);
  };
  return {
    callback: listenerFor(routes, new StartGate(clock, ports.serveWaitMs ?? 0)),
    status: listenerFor(statusRoutes(ports), OPEN_GATE),
    routes,
    tickets,
    tokens,
    throttle,
    rbacChanged: () => {
      access.rbacChanged();
    },
  };
}
