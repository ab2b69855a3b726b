import type { Scenario } from './scenario.ts';

/**
 * The scenarios that are about the process, and at least one of each recording. The others run the program in the process of the test
 * (spec/agent/in-process-agent.ts), which costs a tenth.
 */
const REAL_PROCESSES: Readonly<Record<string, readonly string[]>> = {
  '02-configuration.json': ['file-only', 'every-scalar-by-env'],
  '03-connection.json': ['handshake-lines'],
  // The working directory and the environment of commands.
  '04-check-execution.json': ['statuses', 'environment', 'environment-without-own-paths'],
  '05-tokens.json': ['html-is-not-escaped'],
  '07-allow-list.json': ['first-match-wins-and-env'],
  '08-metrics.json': ['handlers-and-formats'],
  '10-http-api.json': ['routes'],
  '11-queue.json': ['survives-stop-and-start', 'survives-kill', 'two-agents-one-cache'],
  '12-sockets.json': ['udp'],
  '13-statsd.json': ['event'],
  '14-entity-redaction.json': ['keepalive-document'],
  '15-assets.json': ['install-and-run'],
  '16-tls.json': ['client-certificate'],
  '17-shutdown-logging.json': ['stop-by-SIGTERM', 'stop-by-SIGINT', 'stop-during-a-check', 'hang-up', 'sigusr1'],
};

/** Commands of checks see these variables only in an agent that is a process. */
const isForCommands = (variable: string): boolean => !variable.startsWith('MON_');

/** Whether the agents of a scenario are processes. */
export const isRealProcess = (file: string, { scenario, steps }: Scenario): boolean =>
  REAL_PROCESSES[file]?.includes(scenario) === true ||
  steps.some(({ env }) => Object.keys(env ?? {}).some(isForCommands));
