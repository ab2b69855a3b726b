import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../agent/agent.ts';
import { type AgentConfig, parseAgentConfig } from '../config/agent.ts';
import { ConfigError, type Parsed } from '../config/flags.ts';
import { suggestion } from '../config/suggestion.ts';
import { ProcessReaper } from '../exec/process-reaper.ts';
import type { DiskQueue } from '../store/disk-queue.ts';
import { StoreInUse } from '../store/store-lock.ts';
import { createLogger, exitWith, type Logger } from './log/logger.ts';
import { ensureDirectory } from './process/ensure-directory.ts';
import { hideSecrets } from './process/hide-secrets.ts';
import { ignoreSignals } from './process/ignore-signals.ts';
import { openQueue } from './process/open-queue.ts';
import { systemClock } from './process/system-clock.ts';
import { AgentTlsFiles } from './tls/tls-client.ts';
import { readVersion } from './process/version.ts';

/** The value of the cache directory with which nothing is written to disk. */
const NO_DIRECTORY = '/dev/null';
const QUEUE = 'queue';

const USAGE = `Usage: mon-agent <command>

Commands:
  start    run the agent in the foreground
  version  print the version, as --version does
  help     print this text, or the flags of a command
`;

function readConfig(argv: readonly string[]): Parsed<AgentConfig> {
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  return parseAgentConfig(
    { argv, env: environment, readFile, columns: process.stdout.columns },
    hostname() || randomUUID(),
  );
}

/** Logs one line per mistake. */
function reportMistakes(log: Logger, { mistakes }: ConfigError): void {
  for (const { flag, rule } of mistakes) {
    const message = flag === 'config-file' ? 'error handling agent config' : 'error executing mon-agent';
    log.fatal({ flag, error: rule }, message);
  }
}

async function queueIn(cacheDir: string, log: Logger): Promise<DiskQueue | undefined> {
  if (cacheDir === NO_DIRECTORY) return undefined;
  const directory = join(cacheDir, QUEUE);
  ensureDirectory('cache-dir', cacheDir, QUEUE);
  try {
    return await openQueue(directory, log);
  } catch (error) {
    const reason = error instanceof StoreInUse ? `timeout (is mon-agent already running?)` : (error as Error).message;
    throw new Error(`error creating agent: could not open queue (${directory}): ${reason}`, { cause: error });
  }
}

async function start(argv: readonly string[], log: Logger): Promise<void> {
  const parsed = readConfig(argv);
  if ('help' in parsed) {
    process.stdout.write(parsed.help);
    return;
  }
  const { config, warnings } = parsed;
  log.setLevel(config.logLevel);
  for (const { message, fields } of warnings) log.warn(fields, message);
  const tls = new AgentTlsFiles(config.tls, log);
  log.info({}, tls.showsCertificate ? 'using tls client auth' : 'using password auth');
  const store = await queueIn(config.cacheDir, log);
  const reaper = new ProcessReaper(log);
  const agent = new Agent(config, readVersion(), { clock: systemClock, log, random: Math.random, store, tls, reaper });

  const stop = (signal: NodeJS.Signals): void => {
    log.warn({ signal }, 'signal received, shutting down agent');
    agent.stop().then(
      () => void exitWith(0, log),
      (error: unknown) => {
        log.fatal({ err: error }, 'agent did not shut down gracefully');
        void exitWith(1, log);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGUSR1', () => log.warn({ 'log-level': log.stepLevel() }, 'log level set'));
  await agent.start();
}

async function run([command = 'help', ...argv]: readonly string[], log: Logger): Promise<void> {
  if (command === 'start') {
    await start(argv, log);
  } else if (command === 'version' || command === '--version') {
    process.stdout.write(`mon-agent version ${readVersion()}+ce, community edition, built with ${process.version}\n`);
  } else if (command === 'help' && argv[0] === 'start') {
    await start(['--help'], log);
  } else if (command === 'help' || command === '--help' || command === '-h') {
    process.stdout.write(USAGE);
  } else {
    const meant = suggestion(command, ['start', 'version', 'help']);
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    throw new ConfigError([{ flag: undefined, rule: `unknown command "${command}" for "mon-agent"${hint}` }]);
  }
}

ignoreSignals();
const log = createLogger('agent', 'info');
const environment = hideSecrets(log);
try {
  await run(process.argv.slice(2), log);
} catch (error) {
  if (error instanceof ConfigError) reportMistakes(log, error);
  else log.fatal({ err: error }, 'error executing mon-agent');
  await exitWith(1, log);
}
