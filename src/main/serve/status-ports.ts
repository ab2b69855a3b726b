import { entityCount } from '../../actors/entities/entity-limit.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Auth } from '../../auth/auth.ts';
import type { BackendConfig } from '../../config/backend.ts';
import type { createStatusApi } from '../../http/app.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { Installation } from '../init/installation.ts';
import { readVersion } from '../process/version.ts';
import { writeProbe } from './write-probe.ts';

/** `apiUrl` is for the API only. */
export type StatusPorts = Parameters<typeof createStatusApi>[0] & { apiUrl: string | undefined };

export interface StatusSources {
  system: ActorSystem;
  store: TransactionalStore;
  auth: Auth;
  installation: Installation;
  clock: Clock;
  log: Log;
}

/** The dependencies of the health and version routes, on the API port and on the agent port; both share one probe of the store. */
export function statusPorts(
  { api: { requestLimitBytes }, entityLimit = 0, memberName, apiUrl }: BackendConfig,
  { system, store, auth, installation, clock, log }: StatusSources,
): StatusPorts {
  const { tokenSecret, memberId, clusterId } = installation;
  return {
    auth,
    tokenSecret,
    memberId,
    memberName,
    apiUrl,
    clusterId,
    version: readVersion(),
    probe: writeProbe(system, clock),
    isStoreFull: () => system.limits.diskUse().isFull,
    isMemoryFull: () => system.limits.isMemoryFull,
    entityUse: () => ({ count: entityCount(store), limit: entityLimit, full: system.fullEntities }),
    requestLimitBytes,
    log,
  };
}
