import type { RequestListener } from 'node:http';
import type { Commands } from '../actors/administration/commands.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import type { EntityStore } from '../store/entity-store.ts';
import type { EventStore } from '../store/event-store.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { Auth } from '../auth/auth.ts';
import { describeApi } from './openapi/openapi.ts';
import { requestListener, type RequestListenerPorts } from './request-listener.ts';
import type { Route } from './request/route.ts';
import { type ActorRoutePorts, actorRoutes } from './routes/actors.ts';
import { type AggregateRoutePorts, aggregateRoutes } from './routes/aggregates.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { authRoutes } from './routes/auth.ts';
import { type BackendHealthPorts, backendHealthRoutes } from './routes/backend-health.ts';
import { checkHookRoutes } from './routes/check-hooks.ts';
import { type CheckRunPorts, checkRunRoutes } from './routes/check-runs.ts';
import { type ClusterRoutePorts, clusterRoutes } from './routes/cluster.ts';
import { allConfigurationRoutes } from './routes/configuration.ts';
import { docsRoutes } from './routes/docs.ts';
import { entityRoutes } from './routes/entities.ts';
import { type DryRunRoutePorts, dryRunRoutes } from './routes/dry-run.ts';
import { type EntitySummaryPorts, entitySummaryRoutes } from './routes/entity-summaries.ts';
import { type EventMetricPorts, eventMetricRoutes } from './routes/event-metrics.ts';
import { type EventSummaryPorts, eventSummaryRoutes } from './routes/event-summaries.ts';
import { eventRoutes } from './routes/events.ts';
import { type ExplainRoutePorts, explainRoutes } from './routes/explain.ts';
import { graphqlRoutes } from './routes/graphql.ts';
import { type HandshakeRefusalRoutePorts, handshakeRefusalRoutes } from './routes/handshake-refusals.ts';
import { type LedgerRoutePorts, ledgerRoutes } from './routes/ledger.ts';
import { type MachineRoutePorts, machineRoutes } from './routes/machines.ts';
import { METRICS_ROUTE, type MetricsPorts } from './routes/metrics.ts';
import { type NamespaceSummaryPorts, namespaceSummaryRoutes } from './routes/namespace-summaries.ts';
import { namespaceRoutes } from './routes/namespaces.ts';
import { providerRoutes } from './routes/providers.ts';
import { type SilencePreviewPorts, silencePreviewRoutes } from './routes/silence-preview.ts';
import { silencedRoutes } from './routes/silenced.ts';
import { type NotificationRoutePorts, notificationRoutes } from './routes/notifications.ts';
import { type SessionRoutePorts, sessionRoutes } from './routes/sessions.ts';
import { type StatusRoutePorts, statusRoutes } from './routes/status.ts';
import { tessenRoutes } from './routes/tessen.ts';
import { type TickRoutePorts, tickRoutes } from './routes/ticks.ts';
import { ticketRoutes } from './routes/tickets.ts';
import { userRoutes } from './routes/users.ts';
import { OPEN_GATE, StartGate } from './request/start-gate.ts';

export interface ApiPorts
  extends
    Omit<RequestListenerPorts, 'auth' | 'metrics'>,
    LedgerRoutePorts,
    ExplainRoutePorts,
    Pick<NotificationRoutePorts, 'notifications' | 'nextAttempt'>,
    Pick<DryRunRoutePorts, 'dryRuns'>,
    Pick<EventSummaryPorts, 'silencesNow'>,
    Pick<EntitySummaryPorts, 'entityDeadlineAtMs'>,
    Pick<NamespaceSummaryPorts, 'namespaceCounts'>,
    AggregateRoutePorts,
    Pick<EventMetricPorts, 'eventMetrics'>,
    BackendHealthPorts,
    Pick<SilencePreviewPorts, 'silencing'>,
    StatusRoutePorts,
    ClusterRoutePorts,
    SessionRoutePorts,
    MachineRoutePorts,
    Omit<ActorRoutePorts, 'commands'>,
    HandshakeRefusalRoutePorts,
    MetricsPorts,
    Pick<TickRoutePorts, 'ticks'>,
    Pick<CheckRunPorts, 'scheduleStatus'> {
  auth: Auth;
  commands: Commands;
  /** Defaults to the built-in kinds. */
  configurationKinds?: ConfigurationKinds | undefined;
  resources: ResourceStore;
  entities: EntityStore;
  events: EventStore;
  incidents: EventSummaryPorts['incidents'] & EntitySummaryPorts['incidents'];
  clock: Clock;
  /** After start, the API answers only health requests for this long. */
  serveWaitMs?: number | undefined;
}

export interface Api {
  callback: RequestListener;
  /** All routes, for generating the API description. */
  routes: readonly Route[];
}

/** Creates the REST API as a request listener. The caller provides the server, its timeouts and TLS. */
export function createApi(ports: ApiPorts): Api {
  const parts = { ...ports, ...ports.auth };
  const routes: Route[] = [
    ...eventRoutes(parts),
    ...eventSummaryRoutes(parts),
    ...eventMetricRoutes(parts),
    ...aggregateRoutes(parts),
    ...notificationRoutes(parts),
    ...explainRoutes(parts),
    ...dryRunRoutes(parts),
    ...entityRoutes(parts),
    ...entitySummaryRoutes(parts),
    ...allConfigurationRoutes(parts),
    ...providerRoutes(),
    ...checkRunRoutes(parts),
    ...tickRoutes(parts),
    ...checkHookRoutes(parts),
    ...silencedRoutes(parts),
    ...silencePreviewRoutes(parts),
    ...apiKeyRoutes(parts),
    ...userRoutes(parts),
    ...namespaceRoutes(parts),
    ...namespaceSummaryRoutes(parts),
    ...ledgerRoutes(parts),
    ...actorRoutes(parts),
    ...machineRoutes(parts),
    ...sessionRoutes(parts),
    ...handshakeRefusalRoutes(parts),
    ...authRoutes({ ...parts, sessions: parts.loginSessions }),
    ...statusRoutes(parts),
    ...backendHealthRoutes(parts),
    ...clusterRoutes(parts),
    ...tessenRoutes(parts),
    ...graphqlRoutes(),
    ...ticketRoutes(parts),
    ...docsRoutes({ document: () => describeApi([...routes, METRICS_ROUTE], ports.version) }),
  ];
  return { callback: requestListener(routes, new StartGate(ports.clock, ports.serveWaitMs ?? 0), ports), routes };
}

/** Creates a request listener that serves only the health, readiness and version routes, also right after start. */
export function createStatusApi(ports: Omit<RequestListenerPorts, 'metrics'> & StatusRoutePorts): RequestListener {
  return requestListener(statusRoutes(ports), OPEN_GATE, ports);
}
