import type { MemoryUse } from '../../actors/supervision/memory-guard.ts';
import type { DiskUse } from '../../actors/supervision/store-quota.ts';
import type { SystemStats } from '../../actors/system-stats.ts';
import type { AssetManager } from '../../assets/asset-manager.ts';
import type { Auth } from '../../auth/auth.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { EarlierRequestCounts } from '../../http/earlier/earlier-request-counts.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { AgentPortStats } from '../../sessions/agent-port-stats.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import type { StoreSize } from '../../store/commit/transactional-store.ts';

/** The counts and queue stats of a backend's parts at one time. */
export interface BackendStats {
  system: SystemStats;
  pipeline: Pick<Pipeline, 'outbox' | 'outboxBytes' | 'running' | 'runs'>;
  /** Entries of the outbox that were found to be damaged since the start. */
  quarantine: { found: number };
  assets: Pick<AssetManager, 'running' | 'waiting' | 'failures' | 'selections'>;
  /** Runs of checks for many entities. */
  proxyRuns: { running: QueueStats };
  sandbox: Pick<Sandbox, 'counts' | 'threads' | 'waiting'>;
  /** Undefined for a store without a disk. */
  store: StoreSize | undefined;
  /** The quota and the disk of the store. */
  disk: DiskUse;
  /** Undefined where the memory is not monitored. */
  memory: MemoryUse | undefined;
  isMemoryFull: boolean;
  /** Undefined when the backend writes no event log. */
  eventLog: QueueStats | undefined;
  auth: Pick<Auth, 'credentials' | 'tickets' | 'tokens' | 'throttle'>;
  sessions: AgentPortStats;
  agents: Pick<AgentListener, 'counts' | 'refusedFrames' | 'refusedHandshakes' | 'waiting'>;
  /** The connections of both ports. */
  connections: { api: QueueStats; agents: QueueStats };
  earlierRequests: Pick<EarlierRequestCounts, 'all'>;
  /** All namespaces, so that one without agents has a series with the value 0. */
  namespaces: readonly string[];
}
