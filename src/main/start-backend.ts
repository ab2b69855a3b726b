import { hostname } from 'node:os';
import { entityCount, hasRoomFor } from '../actors/entities/entity-limit.ts';
import { describeMachine } from '../actors/inspection/definition.ts';
import { listActors } from '../actors/inspection/actor-list.ts';
import { MACHINES, type Machines } from '../actors/core/machines.ts';
import { scheduleStatus } from '../actors/schedules/schedule-status.ts';
import { reportRequest, reportRings } from '../actors/schedules/schedules.ts';
import { seed } from '../actors/administration/seed.ts';
import { ActorSystem } from '../actors/system.ts';
import type { BackendConfig, ListenAddress } from '../config/backend.ts';
import { AccessControl } from '../auth/access-control.ts';
import { type Api, createApi } from '../http/app.ts';
import { Credentials } from '../auth/credentials.ts';
import { ProcessReaper } from '../exec/process-reaper.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { handlerRunner } from '../pipeline/handler-run.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import type { System } from '../resources/entity.ts';
import { Forbidden } from '../resources/errors.ts';
import { byCertificate, byPassword } from '../sessions/handshake/agent-authentication.ts';
import { AgentListener } from '../sessions/listener.ts';
import type { AgentUser } from '../sessions/handshake/agent-authentication.ts';
import { EntityStore } from '../store/entity-store.ts';
import { EventStore } from '../store/event-store.ts';
import { LmdbStore, type LmdbStoreOptions } from '../store/lmdb-store.ts';
import { ResourceStore } from '../store/resource-store.ts';
import { lockStore } from '../store/store-lock.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';
import { anchorLedger } from './serve/anchor-ledger.ts';
import { closeApi, createApiServer } from './serve/api-server.ts';
import { serveControl } from './serve/control-socket.ts';
import { decisionSettings } from './serve/decision-settings.ts';
import { controlSocketPath, storeDirectory } from './process/directories.ts';
import { EventLog } from './log/event-log.ts';
import { prepareSeed } from './init/initialise.ts';
import { ensureInstallation } from './init/installation.ts';
import { boundAddress, close, listen } from './serve/listen.ts';
import { Metrics } from './metrics/metrics.ts';
import { openInspection } from './serve/open-inspection.ts';
import { startPipeline } from './serve/start-pipeline.ts';
import { startProxyRuns } from './serve/start-proxy-runs.ts';
import { openTls } from './tls/tls.ts';
import { readTokenKeys } from './tls/token-keys.ts';
import { writeProbe } from './serve/write-probe.ts';
import { readVersion } from './process/version.ts';

export interface BackendPorts {
  clock: Clock;
  log: Log;
  /** Opens the store; a real one on the given directory unless a test says otherwise. */
  openStore?: (options: LmdbStoreOptions) => TransactionalStore;
  /** What the backend runs on, for its own entity. */
  machine?: System | undefined;
  machines?: Machines;
  /** What is configured through the API; the usual kinds unless a test says otherwise. */
  configurationKinds?: ConfigurationKinds | undefined;
}

export interface RunningBackend {
  apiPort: number;
  agentPort: number;
  /** Goes on in new files where those that were written have been renamed. */
  reopenLogs(): Promise<void>;
  /** Asks the agents to leave, closes the listeners, stores what was decided. */
  stop(): Promise<void>;
  /** Reads certificates anew, for new connections; what cannot be used is logged and changes nothing. */
  reloadCertificates(): Promise<void>;
}

/** Opens every part of a backend, in order; `stop` closes them in reverse. @throws ConfigError, StoreInUse, StoreTooNew, or what keeps a listener from its address */
export async function startBackend(config: BackendConfig, ports: BackendPorts): Promise<RunningBackend> {
  const { clock, log, openStore = (options: LmdbStoreOptions) => new LmdbStore(options) } = ports;
  const opened: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const closePart of opened.splice(0).reverse()) await closePart();
  };
  try {
    const tls = await openTls(config.tls, { clock, log: log.child({ component: 'tls' }) });
    opened.push(() => {
      tls.stop();
    });
    const tokenKeys = config.tokens?.keys && readTokenKeys(config.tokens.keys);
    const controlSocket = controlSocketPath(config.stateDir);
    const directory = storeDirectory(config.stateDir);
    const lock = lockStore(directory);
    opened.push(() => {
      lock.release();
    });
    const store = openStore({ directory, sync: config.storeSync });
    opened.push(() => store.close());

    const backendName = hostname();
    const system = new ActorSystem({
      store,
      clock,
      log: log.child({ component: 'actors' }),
      backendName,
      machine: ports.machine,
      machines: ports.machines,
      configurationKinds: ports.configurationKinds,
      deregistrationHandler: config.deregistrationHandler,
      settings: decisionSettings(config),
      maxAwakeActors: config.maxAwakeActors,
    });
    const eventLog =
      config.eventLog && new EventLog({ ...config.eventLog, clock, log: log.child({ component: 'event-log' }) });
    if (eventLog !== undefined) {
      system.listen(eventLog);
      opened.push(() => eventLog.stop());
    }
    await system.start();
    opened.push(() => system.stop());
    const metrics = new Metrics({
      version: readVersion(),
      figures: () => ({
        system: system.stats(),
        pipeline,
        proxyRuns,
        store: store.size?.(),
        eventLog: eventLog?.waiting,
        credentials,
        api,
        sessions: listener.stats(),
        agents: listener,
        namespaces: resources.list('namespaces').items.map(({ name }) => name),
      }),
    });
    opened.push(() => {
      metrics.stop();
    });
    const pipelineLog = log.child({ component: 'pipeline' });
    const reaper = new ProcessReaper(pipelineLog);
    opened.push(() => {
      reaper.close();
    });
    const pipeline = startPipeline(system, store, {
      clock,
      log: pipelineLog,
      run: metrics.handlers.observing(handlerRunner({ runLimitMs: config.handlerRunLimitMs ?? 0, reaper })),
    });
    opened.push(() => pipeline.stop());
    opened.push(
      anchorLedger(system, { clock, log: log.child({ component: 'ledger' }), handler: config.ledgerAnchorHandler }),
    );
    const installation = await ensureInstallation(system, store);

    const resources = new ResourceStore(store);
    const proxyRuns = startProxyRuns({ system, resources, clock, log: log.child({ component: 'scheduler' }) });
    opened.push(() => proxyRuns.stop());
    const credentials = new Credentials(resources);
    const access = new AccessControl(resources);
    const listener = new AgentListener({
      system,
      resources,
      createServer: tls.createAgentServer,
      authenticate:
        config.tls?.agentAuth === undefined
          ? byPassword(({ username, password }, remoteAddress) =>
              api.throttle.login({ username, remoteAddress, entryPoint: 'agents' }, (onGuess) =>
                credentials.verify(username, password, onGuess),
              ),
            )
          : byCertificate({
              userOf: (name) => resources.get('users', undefined, name),
              namesEntity: config.tls.agentAuth.namesEntity,
            }),
      mayCreateEvents: (user, namespace, agentName) => mayCreateEvents(access, user, namespace, agentName),
      hasRoomFor: (namespace, name) => hasRoomFor(store, config.entityLimit ?? 0, namespace, name),
      namespaceExists: (name) => resources.get('namespaces', undefined, name) !== undefined,
      requested: (announcement, sessions) => {
        reportRequest(system.decider, announcement, sessions);
      },
      ringsJoined: (namespace, subscriptions) => {
        reportRings(system.decider, namespace, subscriptions);
      },
      status: (request, response) => {
        api.status(request, response);
      },
      clock,
      log: log.child({ component: 'agents' }),
      backendName,
      ...config.agent,
      admission: config.agentAdmission,
    });
    system.rings = listener;
    const api = createApi({
      commands: system.commands,
      configurationKinds: ports.configurationKinds,
      resources,
      entities: new EntityStore(store),
      events: new EventStore(store),
      ledger: (query) => store.ledger(query),
      credentials,
      scheduleStatus: (namespace, check) => scheduleStatus(system.decider, namespace, check),
      sessions: (namespace, page) => listener.sessions(namespace, page),
      rings: (namespace) => listener.rings(namespace),
      machines: Object.entries(MACHINES).map(([word, machine]) => describeMachine(word, machine)),
      actors: (filter, page) => listActors(store, filter, page),
      handshakeRefusals: () => listener.handshakeRefusals(),
      probe: writeProbe(system, clock),
      metrics: () => metrics.scrape(),
      entityUse: () => ({ count: entityCount(store), limit: config.entityLimit ?? 0 }),
      ...installation,
      tokenKeys,
      tokenLifetimes: config.tokens,
      clock,
      log: log.child({ component: 'api' }),
      version: readVersion(),
      requestLimitBytes: config.api.requestLimitBytes,
      serveWaitMs: config.api.serveWaitMs,
    });
    system.listen(policyListener(api, access));

    // Opened before the agents' listener, so that the agents are told first when the backend stops.
    const apiServer = createApiServer(api, config.api, tls.createApiServer);
    await listen(apiServer, addressOf(config.api));
    opened.push(() => closeApi(apiServer, clock));
    opened.push(
      openInspection(config, { system, api, apiServer, access, clock, log: log.child({ component: 'inspect' }) }),
    );

    await listen(listener.server, addressOf(config.agent));
    opened.push(() => listener.stop());

    const control = await serveControl(controlSocket, {
      initialise: async (administrator) => {
        const prepared = await prepareSeed(administrator);
        await system.decider.decide({ cause: { user: administrator.username } }, (scope) => {
          seed(scope.decision, prepared, scope.nowMs);
        }).durable;
      },
    });
    opened.push(() => close(control));

    const reopenLogs = async () => eventLog?.reopen();
    const [apiAddress, agentAddress] = [boundAddress(apiServer), boundAddress(listener.server)];
    log.warn({ api: apiAddress.text, agents: agentAddress.text }, 'backend is running and ready to accept events');
    return { apiPort: apiAddress.port, agentPort: agentAddress.port, stop, reloadCertificates: tls.reload, reopenLogs };
  } catch (error) {
    await stop();
    throw error;
  }
}

const addressOf = ({ host, port }: ListenAddress) => ({ host, port });

function policyListener(api: Api, access: AccessControl) {
  return {
    announced: ({ type }: { type: string }) => {
      if (type !== 'rbac.changed') return;
      api.rbacChanged();
      access.rbacChanged();
    },
  };
}

function mayCreateEvents(access: AccessControl, user: AgentUser, namespace: string, name: string): boolean {
  try {
    access.assertAllowed(user, { verb: 'create', resource: 'events', namespace, name });
    return true;
  } catch (error) {
    if (error instanceof Forbidden) return false;
    throw error;
  }
}
