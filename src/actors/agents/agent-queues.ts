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
  const used: AgentQueue = { id: queueId, n, usedAtMs: ctx.nowMs };
  const at = queues.findIndex(({ id }) => id === queueId);
  if (n <= (queues[at]?.n ?? 0)) return false;
  ctx.put('agentQueues', key, at === 0 ? queues.with(0, used) : inFront(queues, used));
  return true;
}

/** The queue that was used last is the first. */
const inFront = (queues: readonly AgentQueue[], used: AgentQueue): AgentQueue[] =>
  [used, ...queues.filter(({ id }) => id !== used.id)].slice(0, MAX_QUEUES_PER_AGENT);
