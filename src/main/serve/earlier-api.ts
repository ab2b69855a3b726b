import { createHash } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { CONFIG_REVISION_KEY } from '../../actors/core/decision-context.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Auth } from '../../auth/auth.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { createEarlierApi, type EarlierApi } from '../../http/earlier/earlier-api.ts';
import type { EarlierRequestCounts } from '../../http/earlier/earlier-request-counts.ts';
import { CORE, DASHBOARD } from '../../http/earlier/flavour.ts';
import type { Service } from '../../http/earlier/service.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { readVersion } from '../process/version.ts';

const MICROSECONDS = 1_000_000;

/** The dependencies of the API of the first generation. */
export interface EarlierApiParts {
  system: ActorSystem;
  store: TransactionalStore;
  resources: ResourceStore;
  auth: Auth;
  agentPort: Pick<AgentListener, 'server'>;
  pipeline: Pick<Pipeline, 'waiting' | 'isStopped'>;
  earlierRequests: EarlierRequestCounts;
  /** UUID. */
  clusterUuid: string;
  clock: Clock;
  log: Log;
}

/** The API of the first generation, for each listener that serves it. */
export interface EarlierApis {
  core?: EarlierApi;
  dashboard?: EarlierApi;
}

export function earlierApisOf(
  { earlierApi, silenceMatchEntitySubscriptions: matchEntitySubscriptions = false }: BackendConfig,
  parts: EarlierApiParts,
): EarlierApis {
  if (earlierApi === undefined) return {};
  const { commands, aggregates } = parts.system;
  const backendVersion = readVersion();
  const service = serviceOf(parts, backendVersion);
  const { earlierRequests: requests } = parts;
  const common = { commands, aggregates, service, requests, matchEntitySubscriptions, backendVersion };
  const ports = { ...earlierApi, ...parts, ...common };
  return {
    ...(earlierApi.listen && { core: createEarlierApi({ ...ports, flavour: CORE }) }),
    // Scripts of other origins were never served by the dashboard.
    ...(earlierApi.onDashboard && { dashboard: createEarlierApi({ ...ports, flavour: DASHBOARD, corsHeaders: {} }) }),
  };
}

function serviceOf({ system, store, agentPort, pipeline, clusterUuid }: EarlierApiParts, version: string): Service {
  const consumers = (): number => (pipeline.isStopped ? 0 : 1);
  return {
    version,
    id: clusterUuid,
    hostname: hostname(),
    address: addressOf(networkInterfaces()),
    settingsDigest: () =>
      createHash('sha256')
        .update(`${clusterUuid} ${JSON.stringify(store.get('meta', CONFIG_REVISION_KEY) ?? 0)}`)
        .digest('hex'),
    isStoreConnected: () => !system.isFailing,
    isTransportConnected: () => agentPort.server.listening,
    keepalives: () => ({ messages: system.openDecisions, consumers: consumers() }),
    results: () => ({ messages: system.openDecisions + pipeline.waiting, consumers: consumers() }),
    cpu: () => {
      const { user, system: ofSystem } = process.cpuUsage();
      return { user: user / MICROSECONDS, system: ofSystem / MICROSECONDS };
    },
  };
}

/** The first address that other machines can reach. */
const addressOf = (interfaces: ReturnType<typeof networkInterfaces>): string =>
  Object.values(interfaces)
    .flat()
    .find((one) => one !== undefined && !one.internal)?.address ?? '127.0.0.1';
