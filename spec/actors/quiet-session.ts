import { randomUUID } from 'node:crypto';
import type { AgentSession } from '../../src/actors/agents/agent-session.ts';

/** Returns a session in the namespace `default` that ignores what the actors ask of it, with these changes. */
export const quietSession = (
  changes: Partial<AgentSession> & Pick<AgentSession, 'agentName' | 'openedAtMs'>,
): AgentSession => ({
  id: randomUUID(),
  namespace: 'default',
  queueId: undefined,
  silentMs: () => 0,
  ping: () => undefined,
  close: () => undefined,
  terminate: () => undefined,
  stateChanged: () => undefined,
  acknowledged: () => undefined,
  inputsLost: () => undefined,
  ...changes,
});
