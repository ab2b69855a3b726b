import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, platform } from 'node:os';
import type { Agent } from '../agent/agent.ts';
import type { AgentConfig, parseAgentConfig } from '../config/agent.ts';
import { ConfigError } from '../config/parsing/config-error.ts';
import type { Parsed } from '../config/parsing/flags.ts';
import type { Logger } from './log/logger.ts';
import type { Host } from './process/host.ts';
import type { startAgent } from './start-agent.ts';
import { assertServices, installService, uninstallService } from './process/windows-service.ts';
import { aboutProgram } from './about-program.ts';

/** The parts of the program, which are loaded when they are needed: loading everything takes longer than most commands. */
export interface AgentParts {
  config(): Promise<{ parseAgentConfig: typeof parseAgentConfig }>;
  start(): Promise<{ startAgent: typeof startAgent }>;
}

interface Ports {
  host: Host;
  log: Logger;
  parts: AgentParts;
}

const USAGE = `Usage: mon-agent <command>

Commands:
  start    run the agent in the foreground
  service  install or uninstall the agent as a scheduled task of Windows, or run it there
  version  print the version, as --version does
  help     print this text, or the flags of a command
`;

const COMMANDS = ['start', 'service', 'version', 'help'];

async function readConfig(
  argv: readonly string[],
  isService: boolean,
  { host, parts }: Ports,
): Promise<Parsed<AgentConfig>> {
  const { parseAgentConfig } = await parts.config();
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  const sources = { argv, env: host.environment, readFile, columns: host.columns };
  return parseAgentConfig(sources, { hostname: hostname() || randomUUID(), platform: platform(), isService });
}

/** Logs one line per mistake. */
function reportMistakes(log: Logger, { mistakes }: ConfigError): void {
  for (const { flag, rule } of mistakes) {
    const message = flag === 'config-file' ? 'error handling agent config' : 'error executing mon-agent';
    log.fatal({ flag, error: rule }, message);
  }
}

/** Returns the agent that runs, unless only help was asked for. */
async function start(argv: readonly string[], ports: Ports, isService = false): Promise<Agent | undefined> {
  const parsed = await readConfig(argv, isService, ports);
  const { host, log, parts } = ports;
  if ('help' in parsed) {
    for (const { message, fields } of parsed.warnings ?? []) log.warn(fields, message);
    host.print(parsed.help);
    return undefined;
  }
  const { startAgent } = await parts.start();
  return startAgent(parsed, host, log);
}

/** Installs the agent with these flags, which must be valid, or removes it, or runs it as the service. */
async function service([command = '', ...argv]: readonly string[], ports: Ports) {
  assertServices(platform());
  if (command === 'run') return start(argv, ports, true);
  if (command === 'install') {
    const parsed = await readConfig(argv, true, ports);
    if ('help' in parsed) ports.host.print(parsed.help);
    else await installService(argv);
  } else if (command === 'uninstall') {
    await uninstallService();
  } else {
    throw new ConfigError([{ flag: undefined, rule: `unknown command "${command}" for "mon-agent service"` }]);
  }
  return undefined;
}

async function run([command = 'help', ...argv]: readonly string[], ports: Ports) {
  const { host } = ports;
  if (command === 'start') return start(argv, ports);
  if (command === 'service') return service(argv, ports);
  if (command === 'help' && argv.join(' ') === 'start') return start(['--help'], ports);
  host.print(aboutProgram([command, ...argv], { program: 'mon-agent', usage: USAGE, commands: COMMANDS }));
  return undefined;
}

/** Runs a command of the program. Returns the agent that it started, if any. Errors are logged and end the program. */
export async function runAgent(argv: readonly string[], ports: Ports): Promise<Agent | undefined> {
  const { host, log } = ports;
  try {
    return await run(argv, ports);
  } catch (error) {
    if (error instanceof ConfigError) reportMistakes(log, error);
    else log.fatal({ err: error }, 'error executing mon-agent');
    host.exit(1);
    return undefined;
  }
}
