import type { ActorSnapshot } from './actor-snapshot.ts';
import { agentConnectionMachine, type ConnectionContext } from './agent-connection.ts';

const { version = '' } = agentConnectionMachine;

/**
 * Returns the snapshot of an open connection, to replace a stored one that cannot be used. Its deadline is due immediately and
 * moves it to the state that follows from the silence of the agent.
 */
export function rebuiltConnection(key: string, nowMs: number): ActorSnapshot {
  const context: ConnectionContext = { key, deadlineAtMs: nowMs };
  return { value: 'registered', context, version };
}
