import { ActorCounts } from '../../actors/inspection/actor-counts.ts';
import { NamespaceCounts } from '../../actors/inspection/namespace-counts.ts';
import { listActors } from '../../actors/inspection/actor-list.ts';
import { PUBLISHED_MACHINES } from '../../actors/inspection/published-machines.ts';
import { scheduleStatus } from '../../actors/schedules/schedule-status.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Auth } from '../../auth/auth.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { Explainer } from '../../explain/explainer.ts';
import { type Api, type ApiPorts, createApi } from '../../http/app.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConfigurationKinds } from '../../resources/configuration-kinds.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { EntityStore } from '../../store/entity-store.ts';
import { EventStore } from '../../store/event-store.ts';
import { IncidentStore } from '../../store/incident-store.ts';
import { NotificationStore } from '../../store/notification-store.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { TickStore } from '../../store/tick-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import { silencePorts } from './silence-ports.ts';
import type { StatusPorts } from './status-ports.ts';

/** The dependencies of the REST API. */
export interface RestApiPorts {
  system: ActorSystem;
  store: TransactionalStore;
  resources: ResourceStore;
  auth: Auth;
  agentPort: AgentListener;
  metrics: ApiPorts['metrics'];
  /** The ids and the version of this installation, its probe and its limits. */
  status: StatusPorts;
  clusterUuid: string;
  configurationKinds: ConfigurationKinds | undefined;
  dryRuns: ApiPorts['dryRuns'];
  backendHealth: ApiPorts['backendHealth'];
  pipeline: Pick<Pipeline, 'nextAttempt' | 'waiting' | 'isStopped'>;
  clock: Clock;
}

/** Creates the handlers of the REST API, with the stores and the parts of the system that they read. */
export function apiOf(config: BackendConfig, ports: RestApiPorts): Api {
  const { system, store, resources, auth, agentPort, metrics, status, clock } = ports;
  const { commands } = system;
  const { clusterUuid, configurationKinds, dryRuns, pipeline, backendHealth } = ports;
  const notifications = new NotificationStore(store);
  const actorCounts = new ActorCounts(store);
  const namespaceCounts = new NamespaceCounts(store, resources);
  return createApi({
    ...status,
    clusterUuid,
    auth,
    commands,
    configurationKinds,
    resources,
    entities: new EntityStore(store),
    events: new EventStore(store),
    incidents: new IncidentStore(store),
    ...silencePorts(config, store, clock),
    notifications,
    nextAttempt: (outboxKey) => pipeline.nextAttempt(outboxKey),
    dryRuns,
    backendHealth,
    aggregates: system.aggregates,
    eventMetrics: system.eventMetrics,
    explainer: new Explainer({
      ledger: store,
      records: new VisibleStore(store),
      notifications,
      ticks: new TickStore(new VisibleStore(store)),
      clock,
    }),
    ledger: (query) => store.ledgerSlice(query),
    ticks: new TickStore(new VisibleStore(store)),
    scheduleStatus: (namespace, check) => scheduleStatus(system.decider, namespace, check),
    sessions: (namespace, page) => agentPort.sessions(namespace, page),
    rings: (namespace) => agentPort.rings(namespace),
    machines: PUBLISHED_MACHINES,
    actors: (filter, page) => listActors(store, filter, page),
    actor: (address) => system.details.of(address),
    actorCounts: (isDisconnected) => actorCounts.count(isDisconnected),
    namespaceCounts: (isDisconnected) => namespaceCounts.count(isDisconnected),
    entityDeadlineAtMs: (namespace, name) =>
      system.details.deadlineAtMs({ actor: 'entity', key: entityKey(namespace, name) }),
    ledgerOfKey: (query) => store.ledgerSliceOfKey(query),
    handshakeRefusals: () => agentPort.handshakeRefusals(),
    metrics: config.disabledFeatures?.has('metrics') ? undefined : metrics,
    clock,
    serveWaitMs: config.api.serveWaitMs,
  });
}
