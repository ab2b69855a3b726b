import type { AgentCrowd, CrowdConnected, CrowdOrder } from '../../bench/workers/agent-crowd.ts';
import { nextMessage, startWorker } from '../../bench/support/workers.ts';

const WORKERS = 2;

/** Many idle agents in processes of their own. */
export class IdleAgents {
  readonly #workers;

  constructor(port: number, agents: number, timeouts: AgentCrowd['timeouts']) {
    const each = agents / WORKERS;
    this.#workers = Array.from({ length: WORKERS }, (_, index) =>
      startWorker('agent-crowd', {
        port,
        first: index * each,
        agents: each,
        localAddress: `127.0.0.${index + 2}`,
        timeouts,
      } satisfies AgentCrowd),
    );
  }

  /** Sends an order to all processes and returns the milliseconds until all agents are connected. */
  async order(order: CrowdOrder): Promise<number> {
    const startedAt = performance.now();
    for (const worker of this.#workers) worker.send(order);
    await Promise.all(this.#workers.map((worker) => nextMessage<CrowdConnected>(worker)));
    return performance.now() - startedAt;
  }

  disconnect(): void {
    for (const worker of this.#workers) if (worker.connected) worker.disconnect();
  }
}
