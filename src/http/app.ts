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
import { AccessTokens, type EllipticKeys, type TokenLives } from '../auth/access-tokens.ts';
import { Authentication } from '../auth/authentication.ts';
import type { CredentialVerifier, PasswordHasher } from '../auth/credentials.ts';
import { type EntityUse, tellingEntityCount } from './answer/entity-count-headers.ts';
import { EntityTags } from './answer/entity-tag.ts';
import { answeringErrors } from './answer/errors.ts';
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
import { METRICS_ROW, type MetricsPorts, servingMetrics } from './routes/metrics.ts';
import { namespaceRoutes } from './routes/namespaces.ts';
import { silencedRoutes } from './routes/silenced.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { type SessionRoutePorts, sessionRoutes } from './routes/sessions.ts';
import { type StatusRoutePorts, statusRoutes } from './routes/status.ts';
import { tessenRoutes } from './routes/tessen.ts';
import { ticketRoutes } from './routes/tickets.ts';
import { userRoutes } from './routes/users.ts';
import { takingTargets, useRoutes } from './routing.ts';
import { isReaderGone } from './answer/send.ts';
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
  /** The usual ones unless told. */
  configurationKinds?: ConfigurationKinds | undefined;
  resources: ResourceStore;
  entities: EntityStore;
  events: EventStore;
  credentials: CredentialVerifier & PasswordHasher;
  /** 32 random bytes, the same for all backends of a cluster. */
  tokenSecret: Uint8Array;
  /** Sign tokens in place of the secret, where there are any. */
  tokenKeys?: EllipticKeys | undefined;
  tokenLives?: TokenLives | undefined;
  clock: Clock;
  log: Log;
  /** Costs one look-up. */
  entityUse(): EntityUse;
  /** Longest body of a request. */
  requestLimitBytes: number;
  /** Nothing is answered for so long after the start, but how the backend is. */
  serveWaitMs?: number | undefined;
}

export interface Api {
  callback: RequestListener;
  /** Answers how the backend is, and nothing else; at once. */
  status: RequestListener;
  /** Every route, for whoever describes the API. */
  routes: readonly Route[];
  /** Let in whoever opens a WebSocket of the API. */
  tickets: Tickets;
  tokens: AccessTokens;
  throttle: LoginThrottle;
  /** To be called after a role or a binding was written: decisions are made from a copy. */
  rbacChanged(): void;
}

/** The REST API as a request listener; the server, its timeouts and its TLS are the caller's. */
export function createApi(ports: ApiPorts): Api {
  const { resources, clock, log, tokenSecret, tokenKeys, tokenLives, requestLimitBytes } = ports;
  const tokens = new AccessTokens({ secret: tokenSecret, keys: tokenKeys, lives: tokenLives, clock });
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
    ...docsRoutes({ document: () => describeApi([...routes, METRICS_ROW], ports.version) }),
  ];
  const authentication = new Authentication({ resources, sessions });
  const answering = (served: readonly Route[], startGate: Pick<StartGate, 'refusal'>): RequestListener => {
    const koa = new Koa();
    koa
      .use(takingTargets)
      .use(answeringErrors(log))
      .use(servingMetrics(ports))
      .use(tellingEntityCount(ports.entityUse));
    useRoutes(koa, served, { authentication, access, startGate, tags, requestLimitBytes });
    koa.on('error', (err: unknown) => {
      if (isReaderGone(err)) log.debug({ err }, 'answer was not wanted any more');
      else log.warn({ err }, 'answer could not be sent');
    });
    const handle = koa.callback();
    return (request, response) => void handle(request, response);
  };
  return {
    callback: answering(routes, new StartGate(clock, ports.serveWaitMs ?? 0)),
    status: answering(statusRoutes(ports), OPEN_GATE),
    routes,
    tickets,
    tokens,
    throttle,
    rbacChanged: () => {
      access.rbacChanged();
    },
  };
}
