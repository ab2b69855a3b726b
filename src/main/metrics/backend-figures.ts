import type { SystemFigures } from '../../actors/figures.ts';
import type { Api } from '../../http/app.ts';
import type { Credentials } from '../../http/credentials.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Occupancy } from '../../ports/occupancy.ts';
import type { AgentFigures } from '../../sessions/agent-figures.ts';
import type { AgentListener } from '../../sessions/listener.ts';
import type { StoreSize } from '../../store/transactional-store.ts';

/** What the parts of a backend tell of themselves at one moment. */
export interface BackendFigures {
  system: SystemFigures;
  pipeline: Pick<Pipeline, 'outbox' | 'outboxBytes' | 'running' | 'runs'>;
  /** Runs of checks for many entities, and the expressions that select these. */
  proxyRuns: { running: Occupancy; waiting: Occupancy };
  /** Undefined for a store without a disk. */
  store: StoreSize | undefined;
  /** Undefined where none is kept. */
  eventLog: Occupancy | undefined;
  credentials: Pick<Credentials, 'remembered' | 'running' | 'waiting'>;
  api: Pick<Api, 'tickets' | 'tokens' | 'throttle'>;
  sessions: AgentFigures;
  agents: Pick<AgentListener, 'counts' | 'refusedFrames' | 'refusedHandshakes' | 'waiting'>;
  /** Those that exist, so that one without agents has a zero and not nothing. */
  namespaces: readonly string[];
}
