import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Commands } from '../actors/commands.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EntityStore } from '../store/entity-store.ts';
import type { EventStore } from '../store/event-store.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { AccessControl } from './access-control.ts';
import { AccessTokens } from './access-tokens.ts';
import { Authentication } from './authentication.ts';
import type { CredentialVerifier, PasswordHasher } from './credentials.ts';
import { type EntityUse, tellingEntityCount } from './entity-count-headers.ts';
import { answeringErrors } from './errors.ts';
import { LoginSessions } from './login-sessions.ts';
import { LoginThrottle } from './login-throttle.ts';
import type { Route } from './route.ts';
import { type ActorRoutePorts, actorRoutes } from './routes/actors.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { authRoutes } from './routes/auth.ts';
import { type CheckRunPorts, checkRunRoutes } from './routes/check-runs.ts';
import { allConfigurationRoutes } from './routes/configuration.ts';
import { entityRoutes } from './routes/entities.ts';
import { eventRoutes } from './routes/events.ts';
import { type HandshakeRefusalRoutePorts, handshakeRefusalRoutes } from './routes/handshake-refusals.ts';
import { type LedgerRoutePorts, ledgerRoutes } from './routes/ledger.ts';
import { type MachineRoutePorts, machineRoutes } from './routes/machines.ts';
import { type MetricsPorts, servingMetrics } from './routes/metrics.ts';
import { namespaceRoutes } from './routes/namespaces.ts';
import { silencedRoutes } from './routes/silenced.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { type SessionRoutePorts, sessionRoutes } from './routes/sessions.ts';
import { type StatusRoutePorts, statusRoutes } from './routes/status.ts';
import { ticketRoutes } from './routes/tickets.ts';
import { userRoutes } from './routes/users.ts';
import { useRoutes } from './routing.ts';
import { Tickets } from './tickets.ts';

export interface ApiPorts
  extends
    LedgerRoutePorts,
    StatusRoutePorts,
    SessionRoutePorts,
    MachineRoutePorts,
    Pick<ActorRoutePorts, 'actors'>,
    HandshakeRefusalRoutePorts,
    MetricsPorts,
    Pick<CheckRunPorts, 'scheduleStatus'> {
  commands: Commands;
  resources: ResourceStore;
  entities: EntityStore;
  events: EventStore;
  credentials: CredentialVerifier & PasswordHasher;
  /** 32 random bytes, the same for all backends of a cluster. */
  tokenSecret: Uint8Array;
  clock: Clock;
  log: Log;
  /** Costs one look-up. */
  entityUse(): EntityUse;
  /** Longest body of a request. */
  requestLimitBytes: number;
}

export interface Api {
  callback: RequestListener;
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
  const { resources, clock, log, tokenSecret, requestLimitBytes } = ports;
  const tokens = new AccessTokens({ secret: tokenSecret, clock });
  const sessions = new LoginSessions({ ...ports, tokens });
  const throttle = new LoginThrottle(clock);
  const access = new AccessControl(resources);
  const tickets = new Tickets({ resources, clock });
  const routes: Route[] = [
    ...eventRoutes(ports),
    ...notificationRoutes(ports),
    ...entityRoutes(ports),
    ...allConfigurationRoutes({ ...ports, access }),
    ...checkRunRoutes(ports),
    ...silencedRoutes(ports),
    ...apiKeyRoutes({ ...ports, access }),
    ...userRoutes({ ...ports, access, hasher: ports.credentials }),
    ...namespaceRoutes({ ...ports, access }),
    ...ledgerRoutes(ports),
    ...actorRoutes(ports),
    ...machineRoutes(ports),
    ...sessionRoutes(ports),
    ...handshakeRefusalRoutes(ports),
    ...authRoutes({ ...ports, throttle, sessions, tokens }),
    ...statusRoutes(ports),
    ...ticketRoutes({ tickets }),
  ];
  const koa = new Koa();
  koa.use(answeringErrors(log)).use(servingMetrics(ports)).use(tellingEntityCount(ports.entityUse));
  const authentication = new Authentication({ resources, sessions });
  useRoutes(koa, routes, { authentication, access, requestLimitBytes });
  koa.on('error', (err: unknown) => {
    log.warn({ err }, 'answer could not be sent');
  });
  const handle = koa.callback();
  return {
    callback: (request, response) => void handle(request, response),
    routes,
    tickets,
    tokens,
    throttle,
    rbacChanged: () => {
      access.rbacChanged();
    },
  };
}
