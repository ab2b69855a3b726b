import type { SystemStats } from '../../actors/system-stats.ts';
import type { Api } from '../../http/app.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import type { AgentPortStats } from '../../sessions/agent-port-stats.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import type { StoreSize } from '../../store/transactional-store.ts';

/** What the parts of a backend tell of themselves at one moment. */
export interface BackendStats {
  system: SystemStats;
  pipeline: Pick<Pipeline, 'outbox' | 'outboxBytes' | 'running' | 'runs'>;
  /** Runs of checks for many entities, and the expressions that select these. */
  proxyRuns: { running: QueueStats; waiting: QueueStats };
  /** Undefined for a store without a disk. */
  store: StoreSize | undefined;
  /** Undefined where none is kept. */
  eventLog: QueueStats | undefined;
  credentials: Pick<Credentials, 'remembered' | 'running' | 'waiting'>;
  api: Pick<Api, 'tickets' | 'tokens' | 'throttle'>;
  sessions: AgentPortStats;
  agents: Pick<AgentListener, 'counts' | 'refusedFrames' | 'refusedHandshakes' | 'waiting'>;
  /** Those that exist, so that one without agents has a zero and not nothing. */
  namespaces: readonly string[];
}
