import type { QueueStats } from '../../ports/queue-stats.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { ReconnectingAgents } from './reconnecting-agents.ts';

/**
 * The connections of agents that reconnect continually. They are counted in the ledger, and not recorded one by one.
 */
export class CountedConnections {
  readonly #reconnecting = new ReconnectingAgents();
  /** The open connections that are counted. */
  readonly #open = new Set<string>();

  /** Counts a connection of the agent with this entity key. Returns whether it is recorded. */
  opened(agent: string, id: string, steadyMs: number): boolean {
    const isRecorded = this.#reconnecting.opened(agent, steadyMs);
    if (!isRecorded) this.#open.add(id);
    return isRecorded;
  }

  closed(id: string): void {
    this.#open.delete(id);
  }

  /** Runs `run`, without entries in the ledger if the connection is counted. */
  run<T>(ctx: DecisionContext, id: string, run: () => T): T {
    return this.#open.has(id) ? ctx.unrecorded(run) : run();
  }

  /** Records how often each of these agents connected, once an hour. */
  record(ctx: DecisionContext): void {
    for (const { agent, count, sinceMs } of this.#reconnecting.ended(ctx.steadyMs)) {
      const details = { connections: count, seconds: Math.round((ctx.steadyMs - sinceMs) / 1_000) };
      ctx.record({ actor: 'agent', key: agent, from: null, event: 'connections.counted', to: null, details });
    }
  }

  /** The agents whose connections are counted. */
  get agents(): QueueStats {
    return this.#reconnecting.remembered;
  }
}
