import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname, platform } from 'node:os';
import { join } from 'node:path';
import { type AgentConfig, parseAgentConfig } from '../../config/agent.ts';
import { type BackendConfig, parseBackendConfig } from '../../config/backend.ts';
import { ConfigError } from '../../config/parsing/config-error.ts';
import type { Parsed } from '../../config/parsing/flags.ts';
import { LOCK_FILE, lockStore, StoreInUse } from '../../store/lmdb/store-lock.ts';
import type { Environment } from '../process/hide-secrets.ts';
import { assertNotServed } from '../process/own-store.ts';
import { NO_DIRECTORY, queueDirectory } from '../process/open-queue.ts';
import { addressesOf, freePorts, unusableAddresses } from './listen-addresses.ts';
import { startCommand } from './start-command.ts';

/** The configurations of both programs. */
export interface LocalConfig {
  backend: BackendConfig;
  agent: AgentConfig;
}

const NOT_STARTED = 'mon was not started:';

/**
 * Reads the settings of both programs.
 *
 * @throws Error that names all mistakes of both, and settings of TLS, which `npm start` does not support
 */
export function localConfig(environments: { backend: NodeJS.ProcessEnv; agent: NodeJS.ProcessEnv }): LocalConfig {
  const problems: string[] = [];
  const read = <T>(program: string, parse: () => Parsed<T>): T | undefined => {
    try {
      const parsed = parse();
      if (!('help' in parsed)) return parsed.config;
      problems.push(`  the ${program}: print-config is set; npm start cannot print settings: remove it`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.mistakes.map(({ rule }) => `  the ${program}: ${rule}`));
    }
    return undefined;
  };
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  const machine = { hostname: hostname() || randomUUID(), platform: platform(), isService: false };
  const backend = read('backend', () => parseBackendConfig({ argv: [], env: environments.backend, readFile }));
  const agent = read('agent', () => parseAgentConfig({ argv: [], env: environments.agent, readFile }, machine));
  if (backend !== undefined) problems.push(...tlsProblems(backend));
  if (backend === undefined || agent === undefined || problems.length > 0)
    throw new Error([NOT_STARTED, ...problems].join('\n'));
  return { backend, agent };
}

function tlsProblems({ tls, dashboard }: BackendConfig): string[] {
  const pairs = {
    '--cert-file': tls?.pair,
    '--agent-auth-cert-file': tls?.agentAuth?.pair,
    '--dashboard-cert-file': dashboard.pair,
  };
  const settings = Object.entries(pairs).flatMap(([flag, pair]) => (pair === undefined ? [] : [flag]));
  if (settings.length === 0) return [];
  return [
    `  npm start does not support TLS (${settings.join(', ')}); run the two programs instead, as docs/tls.md describes:`,
    '    npx mon-backend init --interactive && npx mon-backend start',
    '    npx mon-agent start --backend-url wss://<name in the certificate>:8081 --trusted-ca-file <authority>',
  ];
}

/**
 * Checks that no other process uses the store, the queue or a port, before one of the programs is started.
 *
 * @throws Error that names everything that is in use, and a command that uses other ports, and other directories if need be
 */
export async function assertUnused(config: LocalConfig, home: string, environment: Environment): Promise<void> {
  const { backend, agent } = config;
  const stores = [await storeProblem(backend), queueProblem(agent)].filter((problem) => problem !== undefined);
  const addresses = await unusableAddresses(addressesOf(backend, agent));
  if (stores.length + addresses.length === 0) return;
  const ports = addresses.length === 0 ? {} : await freePorts();
  const directories = stores.length === 0 ? {} : otherDirectories(home, environment);
  const lines = [NOT_STARTED, ...stores, ...addresses];
  if (ports !== undefined) {
    const others = [addresses.length > 0 ? 'other ports' : '', stores.length > 0 ? 'another directory' : ''];
    const what = others.filter((other) => other !== '').join(' and ');
    lines.push(`This command uses ${what}:`, `  ${startCommand(environment, { ...directories, ...ports })}`);
  }
  throw new Error(lines.join('\n'));
}

/** @throws Error of the system */
async function storeProblem({ stateDir, controlSocket }: BackendConfig): Promise<string | undefined> {
  try {
    await assertNotServed(stateDir, controlSocket);
    return undefined;
  } catch (error) {
    return problemOf('backend', error);
  }
}

/** @throws Error of the system */
function queueProblem({ cacheDir }: AgentConfig): string | undefined {
  const queue = queueDirectory(cacheDir);
  if (cacheDir === NO_DIRECTORY || !existsSync(join(queue, LOCK_FILE))) return undefined;
  try {
    lockStore(queue, `--cache-dir ${cacheDir}`).release();
    return undefined;
  } catch (error) {
    return problemOf('agent', error);
  }
}

function problemOf(program: string, error: unknown): string {
  if (!(error instanceof StoreInUse)) throw error;
  return `  the ${program}'s ${error.message}`;
}

const MAX_HOMES = 1_000;

/** A home that does not exist yet, and everything in it that the environment places elsewhere. */
function otherDirectories(home: string, environment: Environment): Record<string, string> {
  const numbers = Array.from({ length: MAX_HOMES }, (_, index) => index + 2);
  const other = `${home}-${numbers.find((n) => !existsSync(`${home}-${n}`)) ?? randomUUID()}`;
  const files = { MON_BACKEND_CONTROL_SOCKET: 'control.sock', MON_CACHE_DIR: 'agent-cache' };
  const placed = Object.entries(files).filter(([name]) => environment[name] !== undefined);
  return {
    MON_BACKEND_STATE_DIR: other,
    ...Object.fromEntries(placed.map(([name, file]) => [name, join(other, file)])),
  };
}
