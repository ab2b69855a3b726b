import type { BackendConfig } from '../../config/backend.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { PORT_LIMITS } from '../../sessions/handshake/port-limits.ts';
import { descriptorLimit } from '../process/descriptor-limit.ts';
import { ConnectionBound } from './connection-bound.ts';
import { descriptorBudget } from './descriptor-budget.ts';

export interface ConnectionBounds {
  api: ConnectionBound;
  agents: ConnectionBound;
}

/**
 * The bounds of both ports, which follow from the configuration and the number of descriptors that this process may
 * open. Calls `agentClosed` when a connection of the agent port has closed.
 */
export function connectionBounds(
  { api: { maxConnections: wanted } }: Pick<BackendConfig, 'api'>,
  { agentClosed, clock, log }: { agentClosed: () => void; clock: Clock; log: Log },
): ConnectionBounds {
  const descriptors = descriptorLimit();
  const { apiConnections, agentConnections } = descriptorBudget(descriptors, wanted);
  if (wanted !== undefined && apiConnections < wanted) {
    const fields = { flag: 'api-max-connections', wanted, connections: apiConnections, descriptors };
    log.warn(fields, 'the limit of open files is too low for the API connections, raise it (ulimit -n)');
  }
  const ofAgents = Math.min(agentConnections, PORT_LIMITS.sessions + PORT_LIMITS.handshakes);
  return {
    api: new ConnectionBound({ port: 'api', limit: apiConnections, clock, log }),
    agents: new ConnectionBound({ port: 'agents', limit: ofAgents, closed: agentClosed, clock, log }),
  };
}
