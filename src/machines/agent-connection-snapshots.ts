import type { ActorSnapshot } from './actor-snapshot.ts';
import { agentConnectionMachine, type ConnectionContext } from './agent-connection.ts';

const { version = '' } = agentConnectionMachine;

/**
 * The snapshot of an open connection, for a stored one that cannot be used. It looks at once how long nothing was received: its
 * next deadline brings it into the state that follows from that.
 */
export function rebuiltConnection(key: string, nowMs: number): ActorSnapshot {
  const context: ConnectionContext = { key, deadlineAtMs: nowMs };
  return { value: 'registered', context, version };
}
