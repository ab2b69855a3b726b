import type { AgentSurroundings } from '../../src/config/agent.ts';

/** The surroundings of an agent on Linux. */
export const AGENT_HERE: AgentSurroundings = { hostname: 'my-host', platform: 'linux', isService: false };
