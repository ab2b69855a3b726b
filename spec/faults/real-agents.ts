import { AgentProcess } from '../agent/agent-process.ts';
import { AGENT } from '../support/agent-client.ts';

export interface RealAgentSettings {
  intervalS: number;
  warningS: number;
  criticalS: number;
}

/** Starts `mon-agent` with these keepalive settings. It reconnects at most two seconds after its backend is back. */
export function startRealAgent(name: string, port: number, settings: RealAgentSettings): AgentProcess {
  const flags = [
    ['--name', name],
    ['--backend-url', `ws://127.0.0.1:${port}`],
    ['--user', AGENT.username],
    ['--password', AGENT.password],
    ['--keepalive-interval', String(settings.intervalS)],
    ['--keepalive-warning-timeout', String(settings.warningS)],
    ['--keepalive-critical-timeout', String(settings.criticalS)],
    ['--retry-max', '2s'],
    ['--log-level', 'info'],
  ];
  return new AgentProcess(['start', ...flags.flat()]);
}
