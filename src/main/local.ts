import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DEFAULT_SECRET_VARIABLES } from '../config/flags/secret-flags.ts';
import { AlreadyInitialized } from '../actors/administration/initial-resources.ts';
import { readStoreState } from '../store/maintenance/store-state.ts';
import { assertCurrent, StoreOutdated } from '../store/lmdb/store-version.ts';
import { initialise } from './init/initialise.ts';
import { helpIn } from './local/arguments.ts';
import { type Child, killAll, openLog, run, stopAll, stopAtExit } from './local/child-programs.ts';
import { greeting } from './local/greeting.ts';
import { localChecks, localHandlers } from './local/local-checks.ts';
import { directoriesIn } from './local/local-directories.ts';
import { startCommand } from './local/start-command.ts';
import { assertUnused, localConfig } from './local/startable.ts';
import { createLogger } from './log/logger.ts';
import { STORE, storeDirectory } from './process/directories.ts';
import { ensureDirectory } from './process/ensure-directory.ts';
import { hideSecrets } from './process/hide-secrets.ts';
import { ignoreSignals } from './process/ignore-signals.ts';
import { onStopSignal, STOP_SIGNALS } from './process/on-stop-signal.ts';
import { PACKAGE_ROOT } from './process/package-root.ts';
import { SecretVariables } from './process/secret-variables.ts';
import { systemClock } from './process/system-clock.ts';

const LOG = createLogger('local', 'warn');
const ENVIRONMENT = hideSecrets(LOG);
/** The secrets of the backend, which the checks of the agent must not inherit. */
const SECRETS = SecretVariables.take(secretVariablesIn(ENVIRONMENT), LOG);
const AGENT_ENVIRONMENT = Object.fromEntries(Object.entries(ENVIRONMENT).filter(([name]) => !SECRETS.allows(name)));
const { home: HOME, stateDir: STATE_DIR } = directoriesIn(ENVIRONMENT);
const PASSWORD_FILE = join(STATE_DIR, 'admin-password');
/** Marks that the checks were created, so that a deleted check does not come back. */
const CHECKS_MADE_FILE = join(STATE_DIR, 'checks-made');
const USERNAME = 'admin';
const SUBSCRIPTION = 'local';
const ALERT_FILE = join(HOME, 'alerts.log');

const logFile = (name: Child['name']): string => join(HOME, `${name}.log`);
const BACKEND_COMMAND = join(PACKAGE_ROOT, 'bin/mon-backend.js');

/** The value that `--secrets-env-allow` of the backend will have. */
function secretVariablesIn({ MON_BACKEND_SECRETS_ENV_ALLOW: allowed }: NodeJS.ProcessEnv): readonly string[] {
  return allowed === undefined ? DEFAULT_SECRET_VARIABLES : allowed.split(/[\s,]+/).filter((item) => item !== '');
}

/** The settings of the backend: only this machine can connect, unless the environment says otherwise. */
const BACKEND_SETTINGS = {
  MON_BACKEND_API_LISTEN_ADDRESS: '127.0.0.1:8080',
  MON_BACKEND_AGENT_HOST: '127.0.0.1',
  MON_BACKEND_DASHBOARD_HOST: '127.0.0.1',
  MON_BACKEND_LEGACY_API_LISTEN_ADDRESS: '127.0.0.1:4567',
  MON_BACKEND_CACHE_DIR: join(HOME, 'backend-cache'),
  MON_BACKEND_DISABLE_PLATFORM_METRICS: 'true',
  ...ENVIRONMENT,
  MON_BACKEND_STATE_DIR: STATE_DIR,
};
const AGENT_SETTINGS = {
  MON_SUBSCRIPTIONS: SUBSCRIPTION,
  MON_CACHE_DIR: join(HOME, 'agent-cache'),
  ...AGENT_ENVIRONMENT,
};

interface Addresses {
  api: string;
  agents: string;
  dashboard: string;
}

const ADDRESSES = /"api":"([^"]+)","agents":"([^"]+)","dashboard":"([^"]+)"/;

/** Reads the backend's log until it contains the addresses of the listeners. */
async function whenReady({ process: child }: Child): Promise<Addresses> {
  if (child.stderr === null) throw new Error('the backend has no log');
  let last = '';
  for await (const line of createInterface({ input: child.stderr })) {
    last = reasonIn(line);
    const [, api, agents, dashboard] = ADDRESSES.exec(line) ?? [];
    if (api !== undefined && agents !== undefined && dashboard !== undefined) return { api, agents, dashboard };
  }
  throw new Error(`the backend did not start: ${last}`);
}

/** Returns the error in a line of the log; the line itself when it has none. */
function reasonIn(line: string): string {
  const [, quoted] = /"error":("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
  return quoted === undefined ? line : (JSON.parse(quoted) as string);
}

/** Replaces an address of all interfaces by the local one. */
const reachable = (address: string): string => address.replace(/^(\[::\]|0\.0\.0\.0):/, '127.0.0.1:');

/** Whether the listener takes connections of other machines. */
const isOpen = (address: string): boolean => !/^(?:127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(address);

/** The command with which other machines can connect. The API keeps its port, which is part of its address. */
const openingCommand = (api: string): string =>
  startCommand(ENVIRONMENT, {
    MON_BACKEND_AGENT_HOST: '0.0.0.0',
    MON_BACKEND_DASHBOARD_HOST: '0.0.0.0',
    MON_BACKEND_API_LISTEN_ADDRESS: `0.0.0.0:${api.slice(api.lastIndexOf(':') + 1)}`,
  });

/** Logs in as the first administrator. `isWrong` when the password is no longer correct. */
async function logIn(api: string, password: string): Promise<{ token?: string; isWrong: boolean }> {
  const basic = Buffer.from(`${USERNAME}:${password}`).toString('base64');
  const response = await fetch(`http://${api}/auth`, { headers: { Authorization: `Basic ${basic}` } });
  // The backend may be busy or refuse requests for a while, which says nothing about the password.
  if (!response.ok) return { isWrong: response.status === 401 };
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { token, isWrong: false };
}

/** The checks of this machine and the handlers of their alerts. */
async function createResources(api: string, token: string): Promise<void> {
  const put = async (kind: string, resource: { metadata: { name: string } }): Promise<void> => {
    const path = `/api/core/v2/namespaces/default/${kind}/${resource.metadata.name}`;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`http://${api}${path}`, { method: 'PUT', headers, body: JSON.stringify(resource) });
    if (!response.ok) throw new Error(`${kind} ${resource.metadata.name} was refused: ${await response.text()}`);
  };
  for (const handler of localHandlers(ALERT_FILE)) await put('handlers', handler);
  for (const check of localChecks(SUBSCRIPTION)) await put('checks', check);
}

/** Writes the password to disk before it is used, so that a start that fails in between can be repeated. */
async function ensureAdministrator(): Promise<string> {
  if (!existsSync(PASSWORD_FILE))
    writeFileSync(PASSWORD_FILE, `${randomBytes(12).toString('base64url')}\n`, { mode: 0o600 });
  const password = readFileSync(PASSWORD_FILE, 'utf8').trim();
  if (existsSync(CHECKS_MADE_FILE)) return password;
  try {
    await initialise(STATE_DIR, { username: USERNAME, password }, systemClock);
  } catch (error) {
    if (!(error instanceof AlreadyInitialized)) throw error;
  }
  return password;
}

/** @throws Error with the command that upgrades the store, when an older version wrote it */
async function assertUpgraded(): Promise<void> {
  const state = await readStoreState(storeDirectory(STATE_DIR));
  if (state === undefined) return;
  try {
    assertCurrent(state.version, state.unfinished);
  } catch (error) {
    if (!(error instanceof StoreOutdated)) throw error;
    throw new Error(
      `the data in ${STATE_DIR} must be upgraded first; run\n  node ${BACKEND_COMMAND} upgrade --state-dir ${STATE_DIR}`,
      { cause: error },
    );
  }
}

async function main(): Promise<void> {
  ignoreSignals();
  const help = helpIn(process.argv.slice(2));
  if (help !== undefined) {
    process.stdout.write(help);
    return;
  }
  const config = localConfig({ backend: BACKEND_SETTINGS, agent: AGENT_SETTINGS });
  ensureDirectory('MON_BACKEND_STATE_DIR', STATE_DIR, STORE);
  await assertUpgraded();
  await assertUnused(config, HOME, ENVIRONMENT);
  const logs = { backend: openLog(logFile('backend')), agent: openLog(logFile('agent')) };
  const password = await ensureAdministrator();
  const children: Child[] = [];
  stopAtExit(children);
  const stopping = new AbortController();
  const stop = (exitCode: number): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    stopAll(children).then(
      () => process.exit(process.exitCode ?? exitCode),
      () => process.exit(1),
    );
  };
  const watch = ({ name, process: child }: Child): void => {
    child.once('exit', (code, signal) => {
      if (stopping.signal.aborted) return;
      process.stderr.write(`${name} ended unexpectedly (${signal ?? code}), see ${logFile(name)}\n`);
      if (name === 'backend') stop(1);
    });
  };
  const first = (): void => {
    process.stdout.write('\nmon is stopping the agent and the backend. Ctrl-C again ends them at once\n');
    stop(0);
  };
  const again = (): void => {
    process.exitCode = 1;
    killAll(children);
  };
  onStopSignal({ first, again }, { signals: [...STOP_SIGNALS, 'SIGHUP'] });

  try {
    const backend = run('backend', BACKEND_SETTINGS, logs.backend);
    children.push(backend);
    watch(backend);
    const addresses = await whenReady(backend);
    const api = reachable(addresses.api);
    const { token, isWrong } = await logIn(api, password);
    if (!existsSync(CHECKS_MADE_FILE)) {
      if (token === undefined) throw new Error(`${USERNAME} could not log in with the password in ${PASSWORD_FILE}`);
      await createResources(api, token);
      writeFileSync(CHECKS_MADE_FILE, '');
    }
    // A child that starts from here on would outlive this process.
    if (stopping.signal.aborted) return;
    const agent = run(
      'agent',
      { MON_BACKEND_URL: `ws://${reachable(addresses.agents)}`, ...AGENT_SETTINGS },
      logs.agent,
    );
    children.push(agent);
    watch(agent);

    process.stdout.write(
      greeting({
        addresses: { api, agents: reachable(addresses.agents), dashboard: reachable(addresses.dashboard) },
        open: Object.values(addresses).filter(isOpen),
        username: USERNAME,
        password: isWrong ? undefined : password,
        home: HOME,
        stateDir: STATE_DIR,
        alertFile: ALERT_FILE,
        backendCommand: BACKEND_COMMAND,
        openingCommand: openingCommand(api),
      }),
    );
  } catch (error) {
    if (stopping.signal.aborted) return;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    stop(1);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
