import { entityKey } from '../../store/encoding/keyspace.ts';
import type { AgentQueue } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The number of queues remembered for each agent. An agent creates a new queue at each start. */
const MAX_QUEUES_PER_AGENT = 8;

/** The session whose queue numbers the events. */
interface Numbering {
  readonly namespace: string;
  readonly agentName: string;
  readonly queueId: string | undefined;
}

/** Returns whether number `n` of the session's queue is new, and stores it. */
export function countUp(ctx: DecisionContext, { namespace, agentName, queueId }: Numbering, n: number): boolean {
  if (queueId === undefined) return true;
  const key = entityKey(namespace, agentName);
  const queues = ctx.get('agentQueues', key) ?? [];
  const known = queues.find(({ id }) => id === queueId)?.n ?? 0;
  if (n <= known) return false;
  const others: AgentQueue[] = queues.filter(({ id }) => id !== queueId);
  ctx.put('agentQueues', key, [{ id: queueId, n, usedAtMs: ctx.nowMs }, ...others].slice(0, MAX_QUEUES_PER_AGENT));
  return true;
}
