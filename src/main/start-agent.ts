import { readFileSync } from 'node:fs';
import { Agent, type AgentAssetPorts, API_CRASHED } from '../agent/agent.ts';
import { type AllowedProgram, parseAllowList } from '../agent/execution/allow-list.ts';
import type { AssetManager } from '../assets/asset-manager.ts';
import { InvalidProxy, proxyFor } from '../agent/connection/proxy.ts';
import type { AgentConfig } from '../config/agent.ts';
import { ConfigError } from '../config/parsing/config-error.ts';
import type { Parsed } from '../config/parsing/flags.ts';
import { ProcessReaper } from '../exec/process-reaper.ts';
import type { Clock } from '../ports/clock.ts';
import type { DiskQueue } from '../store/disk-queue.ts';
import { StoreInUse } from '../store/lmdb/store-lock.ts';
import { InvalidResource } from '../resources/errors.ts';
import { openLogFile } from './log/open-log-file.ts';
import { type Logger, shownLevel } from './log/logger.ts';
import { openAgentAssets } from './process/agent-assets.ts';
import { ensureDirectory } from './process/ensure-directory.ts';
import type { Environment } from './process/hide-secrets.ts';
import type { Host } from './process/host.ts';
import { onStopSignal } from './process/on-stop-signal.ts';
import { NO_DIRECTORY, openQueue, QUEUE, queueDirectory } from './process/open-queue.ts';
import { readCertificates } from './tls/tls-files.ts';
import { AgentTlsFiles } from './tls/tls-client.ts';
import { readVersion } from './process/version.ts';

/** Signals as the reference names them. */
const SIGNAL_NAMES: Partial<Record<NodeJS.Signals, string>> = { SIGINT: 'interrupt', SIGTERM: 'terminated' };

/** The proxies of the environment, for the backends that are reached through one. @throws ConfigError */
function proxiesOf(backendUrls: readonly string[], environment: Environment): ReadonlyMap<string, URL> {
  try {
    return new Map(
      backendUrls.flatMap((url) => {
        const proxy = proxyFor(url, environment);
        return proxy === undefined ? [] : [[url, proxy] as const];
      }),
    );
  } catch (error) {
    if (!(error instanceof InvalidProxy)) throw error;
    throw new ConfigError([{ flag: undefined, rule: error.message }]);
  }
}

/** @throws ConfigError that names the flag when another agent uses the directory, Error when it cannot be used */
async function queueIn(cacheDir: string, ports: { clock: Clock; log: Logger }): Promise<DiskQueue | undefined> {
  if (cacheDir === NO_DIRECTORY) return undefined;
  const directory = queueDirectory(cacheDir);
  ensureDirectory('cache-dir', cacheDir, QUEUE);
  try {
    return await openQueue(directory, ports);
  } catch (error) {
    const failure = `error creating agent: could not open queue (${directory})`;
    const { message } = error as Error;
    if (!(error instanceof StoreInUse)) throw new Error(`${failure}: ${message}`, { cause: error });
    const rule = `${failure}: timeout (is mon-agent already running?): ${message}; --cache-dir must name another directory`;
    throw new ConfigError([{ flag: 'cache-dir', rule }]);
  }
}

/** @throws ConfigError that names the flag, for a file that cannot be read or a list that is not valid */
function allowListIn(path: string): AllowedProgram[] {
  if (path === '') return [];
  try {
    return parseAllowList(path, readFileSync(path, 'utf8'));
  } catch (error) {
    // The reference has the rule of a list that is not valid without the name of the flag.
    const rule = error instanceof InvalidResource ? error.message : `cannot read --allow-list: ${messageOf(error)}`;
    throw new ConfigError([{ flag: 'allow-list', rule }]);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Without a directory for them there are no assets. */
function assetsOf(
  config: AgentConfig,
  clock: Clock,
  log: Logger,
): ((ports: AgentAssetPorts) => AssetManager) | undefined {
  if (config.disablesAssets) return undefined;
  if (config.cacheDir !== NO_DIRECTORY) {
    const { cacheDir, assets, tls } = config;
    const trustedCa = tls.ca && readCertificates(tls.ca);
    return (ports) => openAgentAssets({ cacheDir, assets, trustedCa }, { ...ports, clock, log });
  }
  log.warn({ flag: 'cache-dir' }, 'assets are disabled, because there is no directory for them');
  return undefined;
}

/** Starts an agent, logs the warnings of its configuration, and stops it at a signal. Returns none when that came before it ran. */
export async function startAgent(
  { config, warnings }: Exclude<Parsed<AgentConfig>, { help: string }>,
  host: Host,
  log: Logger,
): Promise<Agent | undefined> {
  const { clock } = host;
  log.setLevel(config.logLevel);
  const logFile = await openLogFile(config.logFile, { clock, log });
  host.on('SIGUSR1', () => log.always(`set log level to ${shownLevel(log.stepLevel())}`));
  // Without a log file SIGHUP ends the agent, as it ends that of the reference.
  if (logFile !== undefined) host.on('SIGHUP', () => void logFile.reopen());
  for (const { message, fields } of warnings) log.warn(fields, message);
  const proxies = proxiesOf(config.backendUrls, host.environment);
  const tls = new AgentTlsFiles(config.tls, log);
  log.info({}, 'configuration successfully validated');
  log.info({}, tls.showsCertificate ? 'using tls client auth' : 'using password auth');
  const allowList = allowListIn(config.allowList);
  const openAssets = assetsOf(config, clock, log);
  /** Assigned when the queue is open. */
  const running: { agent?: Agent } = {};
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    log.warn({}, `signal "${SIGNAL_NAMES[signal] ?? signal}" received, shutting down agent`);
    isStopping = true;
    // While the agent waits for its queue, there is nothing to stop.
    const stopped = running.agent?.stop() ?? Promise.resolve();
    stopped.then(
      () => host.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'agent did not shut down gracefully');
        host.exit(1);
      },
    );
  };
  onStopSignal({ first: stop, again: () => running.agent?.abort() }, { on: host.on });
  const store = await queueIn(config.cacheDir, { clock, log });
  if (isStopping) {
    await store?.close();
    return undefined;
  }
  const reaper = new ProcessReaper(log);
  const failed = (err: unknown, message: string, flags?: readonly string[]): void => {
    log.fatal({ err, flags }, message);
    host.exit(1);
  };
  const { random } = Math;
  const ports = { clock, log, random, store, tls, proxies, reaper, allowList, openAssets, failed };
  const agent = new Agent(config, readVersion(), ports);
  running.agent = agent;
  try {
    await agent.start();
  } catch (error) {
    // The API is the only input without which the agent does not run.
    failed(error, API_CRASHED, ['api-host', 'api-port']);
  }
  return agent;
}
