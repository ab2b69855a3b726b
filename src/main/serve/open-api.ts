import type { Server } from 'node:http';
import { listActors } from '../../actors/inspection/actor-list.ts';
import { PUBLISHED_MACHINES } from '../../actors/inspection/published-machines.ts';
import { scheduleStatus } from '../../actors/schedules/schedule-status.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Auth } from '../../auth/auth.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { Explainer } from '../../explain/explainer.ts';
import { type ApiPorts, createApi } from '../../http/app.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ConfigurationKinds } from '../../resources/configuration-kinds.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import { EntityStore } from '../../store/entity-store.ts';
import { EventStore } from '../../store/event-store.ts';
import { NotificationStore } from '../../store/notification-store.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { TickStore } from '../../store/tick-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import type { OpenedTls } from '../tls/tls.ts';
import { closeApi, createApiServer } from './api-server.ts';
import type { Closers } from './closers.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { listenOn } from './listen.ts';
import { openInspection } from './open-inspection.ts';
import type { StatusPorts } from './status-ports.ts';

export interface OpenApiPorts {
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
  connections: ConnectionBound;
  tls: Pick<OpenedTls, 'createApiServer'>;
  clock: Clock;
  log: Log;
}

/** Serves the API and its inspector. Resolves when the server listens. */
export async function openApi(config: BackendConfig, ports: OpenApiPorts, closers: Closers): Promise<Server> {
  const { system, store, resources, auth, agentPort, metrics, status, tls, clock, log } = ports;
  const { commands } = system;
  const { clusterUuid, configurationKinds, connections, dryRuns } = ports;
  const notifications = new NotificationStore(store);
  const api = createApi({
    ...status,
    clusterUuid,
    auth,
    commands,
    configurationKinds,
    resources,
    entities: new EntityStore(store),
    events: new EventStore(store),
    notifications,
    dryRuns,
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
    handshakeRefusals: () => agentPort.handshakeRefusals(),
    metrics,
    clock,
    serveWaitMs: config.api.serveWaitMs,
  });
  const { host, port } = config.api;
  const apiServer = createApiServer(api, config.api, connections, tls.createApiServer);
  await listenOn(apiServer, { host, port, flags: ['api-listen-address'] });
  closers.add(() => closeApi(apiServer, clock));
  const inspectLog = log.child({ component: 'inspect' });
  closers.add(openInspection(config, { system, auth, apiServer, connections, clock, log: inspectLog }));
  return apiServer;
}
