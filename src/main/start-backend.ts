import { hostname } from 'node:os';
import { isInitialised } from '../actors/administration/initial-resources.ts';
import type { Machines } from '../actors/core/machines.ts';
import type { MemorySource } from '../actors/supervision/memory-guard.ts';
import type { AccessControl } from '../auth/access-control.ts';
import { createAuth } from '../auth/auth.ts';
import type { VerifyHash } from '../auth/credentials.ts';
import type { BackendConfig } from '../config/backend.ts';
import { EarlierRequestCounts } from '../http/earlier/earlier-request-counts.ts';
import { createStatusApi } from '../http/app.ts';
import { NO_SECRET_VALUES, type SecretValues } from '../pipeline/secrets.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import type { System } from '../resources/entity.ts';
import type { LmdbStoreOptions } from '../store/lmdb/lmdb-store.ts';
import { afterPrefix } from '../store/encoding/keyspace.ts';
import { assertChecksHaveNamespaces } from '../store/maintenance/orphaned-checks.ts';
import { ResourceStore } from '../store/resource-store.ts';
import type { TransactionalStore } from '../store/commit/transactional-store.ts';
import { ensureInstallation } from './init/installation.ts';
import { Metrics } from './metrics/metrics.ts';
import { commandAccount } from './process/command-account.ts';
import { controlSocketPath } from './process/directories.ts';
import { HeapGuard } from './process/heap-guard.ts';
import { readVersion } from './process/version.ts';
import { watchBackendHealth } from './serve/backend-health.ts';
import { createAgentPort } from './serve/agent-port.ts';
import { anchorLedger } from './serve/anchor-ledger.ts';
import { Closers } from './serve/closers.ts';
import { connectionBounds } from './serve/connection-bounds.ts';
import { boundAddress, listenOn } from './serve/listen.ts';
import { openAssets } from './serve/open-assets.ts';
import { openControl } from './serve/open-control.ts';
import { openDebug } from './serve/open-debug.ts';
import { openHttp } from './serve/open-http.ts';
import { openPipeline } from './serve/open-pipeline.ts';
import { openMetricsLog } from './serve/open-metrics-log.ts';
import { openSandbox } from './serve/open-sandbox.ts';
import { openStore } from './serve/open-store.ts';
import { openSystem } from './serve/open-system.ts';
import { dryRunPorts } from './serve/dry-run-ports.ts';
import { runEnvironment } from './serve/run-environment.ts';
import { startProxyRuns } from './serve/start-proxy-runs.ts';
import { statusPorts } from './serve/status-ports.ts';
import { openTls } from './tls/tls.ts';
import { readTokenKeys } from './tls/token-keys.ts';

export interface BackendPorts {
  clock: Clock;
  log: Log;
  /** Opens the store; by default a real one in the given directory. Tests replace it. */
  openStore?: (options: LmdbStoreOptions) => TransactionalStore;
  /** Checks the store before it is opened; not at all by default. */
  checkStoreFiles?: (directory: string) => Promise<void>;
  /** The machine that the backend runs on, for its own entity. */
  machine?: System | undefined;
  machines?: Machines;
  /** The memory of the process; not monitored when absent. */
  memory?: MemorySource | undefined;
  /** The values of the provider `env` of secrets; none by default. */
  secretValues?: SecretValues | undefined;
  /** Compares a password with its hash; with bcrypt by default. Tests replace it. */
  verifyHash?: VerifyHash | undefined;
  /** The cost of the hashes of new passwords; the usual one by default. Tests reduce it. */
  bcryptCost?: number | undefined;
  /** The kinds of resources that the API configures; by default the built-in ones. */
  configurationKinds?: ConfigurationKinds | undefined;
}

export interface RunningBackend {
  apiPort: number;
  agentPort: number;
  /** Undefined when that listener is off. */
  dashboardPort: number | undefined;
  /** Undefined when that API is off. */
  earlierApiPort: number | undefined;
  /** Opens log files again, after they were renamed. */
  reopenLogs(): Promise<void>;
  /** Asks the agents to disconnect, closes the listeners and stores the open decisions. */
  stop(): Promise<void>;
  /** Reads the certificates again, for new connections. Files that cannot be used are logged and change nothing. */
  reloadCertificates(): Promise<void>;
}

/**
 * Opens the parts of a backend, each after the parts that it needs. `stop` closes them in reverse.
 * @throws ConfigError, StoreInUse, StoreTooNew, or the error of an address that cannot be listened on
 */
export async function startBackend(config: BackendConfig, ports: BackendPorts): Promise<RunningBackend> {
  const closers = new Closers();
  try {
    return await openParts(config, ports, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function openParts(config: BackendConfig, ports: BackendPorts, closers: Closers): Promise<RunningBackend> {
  const { clock, log, machine, machines, configurationKinds, secretValues = NO_SECRET_VALUES } = ports;
  const backendName = hostname();
  const logOf = (component: string): Log => log.child({ component });

  const tls = await openTls(config, { clock, log: logOf('tls') });
  closers.add(() => {
    tls.stop();
  });
  const tokenKeys = config.tokens?.keys && readTokenKeys(config.tokens.keys);

  const { stateDir, controlSocket, storeSync: sync } = config;
  const storeOptions = {
    stateDir,
    controlSocket,
    sync,
    checkFiles: ports.checkStoreFiles,
    backendName,
    log: logOf('store'),
  };
  const store = await openStore(storeOptions, closers, ports.openStore);
  assertChecksHaveNamespaces((prefix) => store.keys('resources', { from: prefix, to: afterPrefix(prefix) }));
  const resources = new ResourceStore(store);

  const { memory } = ports;
  const systemPorts = { store, clock, log, backendName, machine, machines, secretValues, configurationKinds, memory };
  const { system, eventLog } = await openSystem(config, systemPorts, closers);

  const sandbox = openSandbox(config, logOf('sandbox'), closers);
  const metrics = new Metrics(readVersion());
  closers.add(() => {
    metrics.stop();
  });
  const assetPorts = { sandbox, machine, backendName, clock, log: logOf('asset-manager') };
  const assets = openAssets(config, assetPorts, closers);
  const environment = runEnvironment(store, secretValues, assets);
  const pipelinePorts = {
    ...environment,
    system,
    store,
    sandbox,
    durations: metrics.handlers,
    backendName,
    account: config.commandUser === undefined ? undefined : commandAccount(config.commandUser, stateDir),
    clock,
    log: logOf('pipeline'),
  };
  const { pipeline, quarantine } = openPipeline(config, pipelinePorts, closers);
  closers.add(anchorLedger(system, { clock, log: logOf('ledger'), handler: config.ledgerAnchorHandler }));
  const installation = await ensureInstallation(system, store);
  const proxyRuns = startProxyRuns({ system, resources, sandbox, clock, log: logOf('scheduler') });
  closers.add(() => {
    proxyRuns.stop();
  });

  const { commands } = system;
  const { tokenSecret, clusterUuid } = installation;
  const apiLog = logOf('api');
  const tokenLifetimes = config.tokens;
  const auth = createAuth({
    resources,
    commands,
    tokenSecret,
    tokenKeys,
    tokenLifetimes,
    verifyHash: ports.verifyHash,
    bcryptCost: ports.bcryptCost,
    clock,
    log: apiLog,
  });
  system.listen(policyListener(auth.access));
  const status = statusPorts(config, { system, store, auth, installation, clock, log: apiLog });

  const heap = new HeapGuard(clock);
  closers.add(() => {
    heap.stop();
  });
  const connections = connectionBounds(config, { agentClosed: () => heap.connectionClosed(), clock, log });
  const agentPort = createAgentPort(config, {
    system,
    store,
    resources,
    auth,
    status: createStatusApi(status),
    connections: connections.agents,
    secretValues,
    createServer: tls.createAgentServer,
    backendName,
    clock,
    log: logOf('agents'),
  });

  const earlierRequests = new EarlierRequestCounts();
  metrics.addBackend(() => ({
    earlierRequests,
    system: system.stats(),
    pipeline,
    quarantine,
    assets,
    proxyRuns,
    sandbox,
    store: store.size?.(),
    disk: system.limits.diskUse(),
    memory: system.limits.memoryUse(),
    isMemoryFull: system.limits.isMemoryFull,
    eventLog: eventLog?.waiting,
    auth,
    sessions: agentPort.stats(),
    agents: agentPort,
    connections: { api: connections.api.stats, agents: connections.agents.stats },
    namespaces: resources.list('namespaces').items.map(({ name }) => name),
  }));

  const metricsLog = await openMetricsLog(config, { metrics, backendName, clock, log: logOf('metrics-log') }, closers);

  // The listeners of HTTP open before the agent port does, so that a stop asks the agents to leave before it closes the API.
  const scrape = () => metrics.scrape();
  const dryRuns = dryRunPorts(config, { ...environment, store, sandbox, clock, log: logOf('dry-run') });
  const health = watchBackendHealth({ system, store, pipeline, metrics, stateDir, clock, log });
  closers.add(() => {
    health.stop();
  });
  const servers = await openHttp(
    config,
    {
      system,
      store,
      resources,
      auth,
      agentPort,
      metrics: scrape,
      status,
      clusterUuid,
      configurationKinds,
      dryRuns,
      backendHealth: () => health.read(),
      pipeline,
      earlierRequests,
      connections: connections.api,
      tls,
      clock,
      log,
    },
    closers,
  );
  const { host, port } = config.agent;
  await listenOn(agentPort.server, { host, port, flags: ['agent-host', 'agent-port'] });
  closers.add(() => agentPort.stop());
  await openControl(controlSocketPath(stateDir, controlSocket), system, closers);
  await openDebug(config, { clock, log: logOf('debug') }, closers);

  if (!isInitialised(store)) {
    const command = `mon-backend init --state-dir ${config.stateDir}`;
    log.warn(
      { run: command },
      'store is not initialized, no user and no agent can log in before "mon-backend init" has run',
    );
  }
  const api = boundAddress(servers.api);
  const agents = boundAddress(agentPort.server);
  const dashboard = servers.dashboard && boundAddress(servers.dashboard);
  const legacyApi = servers.earlierApi && boundAddress(servers.earlierApi);
  const addresses = { api: api.text, agents: agents.text, dashboard: dashboard?.text, legacyApi: legacyApi?.text };
  log.warn(addresses, 'backend is running and ready to accept events');
  return {
    apiPort: api.port,
    agentPort: agents.port,
    dashboardPort: dashboard?.port,
    earlierApiPort: legacyApi?.port,
    stop: () => closers.closeAll(),
    reloadCertificates: tls.reload,
    reopenLogs: async () => void (await Promise.all([eventLog?.reopen(), metricsLog?.reopen()])),
  };
}

/** Makes a change of a role or a binding effective at once. */
function policyListener(access: AccessControl) {
  return {
    announced: ({ type }: { type: string }) => {
      if (type === 'rbac.changed') access.rbacChanged();
    },
  };
}
