import { existsSync, readFileSync } from 'node:fs';
import { AlreadyInitialized } from '../actors/administration/seed.ts';
import { type BackendConfig, parseBackendConfig } from '../config/backend.ts';
import { type InitConfig, parseInitConfig } from '../config/init.ts';
import { parseUpgradeConfig, type UpgradeConfig } from '../config/upgrade.ts';
import { parseVerifyConfig, type VerifyConfig } from '../config/verify.ts';
import type { FirstAdmin } from '../config/first-admin-flags.ts';
import { ConfigError, type Parsed, type Sources } from '../config/flags.ts';
import { suggestion } from '../config/suggestion.ts';
import { verifyStoredLedger } from '../store/stored-ledger.ts';
import { StoreDamaged } from '../store/store-damaged.ts';
import { StoreInUse } from '../store/store-lock.ts';
import { StoreOutdated, StoreTooNew, StoreTooOld } from '../store/store-version.ts';
import { BackupFailed } from '../store/backup.ts';
import { MigrationFailed } from '../store/upgrade.ts';
import { askForAdmin } from './init/ask-admin.ts';
import { initialiseThrough } from './serve/control-socket.ts';
import { controlSocketPath, STORE, storeDirectory } from './process/directories.ts';
import { assertDirectoryIfAny, ensureDirectory } from './process/ensure-directory.ts';
import { initialise } from './init/initialise.ts';
import { upgrade, UpgradeStopped } from './init/upgrade.ts';
import { createLogger, exitWith, type Logger } from './log/logger.ts';
import { hideSecrets } from './process/hide-secrets.ts';
import { ignoreSignals } from './process/ignore-signals.ts';
import { assertNotServed } from './process/own-store.ts';
import { SecretVariables } from './process/secret-variables.ts';
import { systemClock } from './process/system-clock.ts';
import { readVersion } from './process/version.ts';

const USAGE = `Usage: mon-backend <command>

Commands:
  start          run the backend in the foreground
  init           create the first administrator and the resources of a fresh installation
  upgrade        bring the store to the version of this program
  ledger verify  verify the ledger and name the first broken entry
  version        print the version, as --version does
  help           print this text, or the flags of a command
`;

/** `help <command>` prints their flags. */
const COMMANDS_WITH_FLAGS = ['start', 'init', 'upgrade', 'ledger verify'];

const COMMANDS = [...COMMANDS_WITH_FLAGS, 'version', 'help'];

const EXIT_ALREADY_INITIALIZED = 3;
const EXIT_STORE_TOO_NEW = 4;
/** The store must be upgraded first, its upgrade halted, or it is damaged. */
const EXIT_HALTED = 5;
const STOP_LIMIT_MS = 30_000;
const INIT_RETRY_MS = 1_000;

const sources = (argv: readonly string[]): Sources => ({
  argv,
  env: environment,
  readFile: (path) => readFileSync(path, 'utf8'),
  columns: process.stdout.columns,
});

/** The configuration, or undefined when only its help was asked for. */
function configOf<T>(parsed: Parsed<T>, log: Logger): T | undefined {
  if ('help' in parsed) {
    process.stdout.write(parsed.help);
    return undefined;
  }
  for (const { message, fields } of parsed.warnings) log.warn(fields, message);
  return parsed.config;
}

async function start(config: BackendConfig, log: Logger): Promise<void> {
  log.setLevel(config.logLevel);
  const secretValues = SecretVariables.take(config.secretVariables ?? [], log);
  ensureDirectory('state-dir', config.stateDir, STORE);
  assertDirectoryIfAny('cache-dir', config.cacheDir);
  await assertNotServed(config.stateDir);
  // Loading the whole backend takes time that the other commands do not need.
  const { startBackend } = await import('./start-backend.ts');
  const { readMachine } = await import('./process/machine.ts');
  const machine = await readMachine(systemClock, log);
  const starting = startBackend(config, { clock: systemClock, log, machine, secretValues });
  // Installed before the backend runs, so that no signal ends the process without a clean stop.
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.warn({ signal }, 'signal received, shutting down backend');
    systemClock.after(STOP_LIMIT_MS, () => process.exit(1));
    starting
      .then((backend) => backend.stop())
      .then(
        () => void exitWith(0, log),
        (err: unknown) => {
          log.fatal({ err }, 'backend did not shut down gracefully');
          void exitWith(1, log);
        },
      );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', () => {
    starting
      .then((backend) => Promise.all([backend.reloadCertificates(), backend.reopenLogs()]))
      .catch((err: unknown) => {
        log.error({ err }, 'could not reload the certificates or reopen the logs');
      });
  });
  process.on('SIGUSR1', () => {
    log.warn({ 'log-level': log.stepLevel() }, 'log level set');
  });
  await starting;
}

/** Initialises the store itself, or through the backend that uses it. */
async function init(config: InitConfig, log: Logger) {
  const { stateDir, timeoutMs, wait, ignoreAlreadyInitialized } = config;
  ensureDirectory('state-dir', stateDir, STORE);
  const admin = config.admin ?? (await askForAdmin({ input: process.stdin, output: process.stdout }));
  for (;;) {
    try {
      await initialiseOnce(stateDir, admin, timeoutMs);
      log.warn({ username: admin.username }, 'store initialized');
      return;
    } catch (error) {
      if (error instanceof AlreadyInitialized) {
        log.warn({}, 'store already initialized');
        process.exitCode = ignoreAlreadyInitialized ? 0 : EXIT_ALREADY_INITIALIZED;
        return;
      }
      if (!wait || !isUnreachable(error)) throw error;
      log.warn({ err: error }, 'backend cannot be reached yet');
      await new Promise<void>((resolve) => void systemClock.after(INIT_RETRY_MS, resolve));
    }
  }
}

async function initialiseOnce(stateDir: string, admin: FirstAdmin, timeoutMs: number): Promise<void> {
  try {
    await initialise(stateDir, admin, systemClock);
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    await initialiseThrough(controlSocketPath(stateDir), admin, timeoutMs);
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof StoreInUse || ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function runUpgrade(config: UpgradeConfig, log: Logger): Promise<void> {
  const console = { input: process.stdin, output: process.stdout };
  await upgrade(config, { console, clock: systemClock, log, program: readVersion(), stopSignal });
}

/** From this call on, the first SIGINT or SIGTERM aborts the returned signal; a second one ends the process. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort(new UpgradeStopped('upgrade interrupted; run "mon-backend upgrade" again to continue it'));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return controller.signal;
}

/** Verifies the ledger, also while a backend uses the store. */
async function verifyLedger({ stateDir, anchor }: VerifyConfig): Promise<void> {
  const directory = storeDirectory(stateDir);
  if (!existsSync(directory)) throw new Error(`there is no store in ${directory}`);
  const result = await verifyStoredLedger(directory, anchor);
  if (result === undefined) throw new Error(`there is no store in ${directory}`);
  if (result.ok) {
    process.stdout.write(`ledger ok: ${result.head.seq} entries, head ${result.head.seq}:${result.head.hash}\n`);
  } else {
    process.stderr.write(`ledger broken at entry ${result.seq}: ${result.reason}\n`);
    process.exitCode = 1;
  }
}

async function run([command = 'help', ...argv]: readonly string[], log: Logger): Promise<void> {
  if (command === 'start') {
    const config = configOf(parseBackendConfig(sources(argv)), log);
    if (config !== undefined) await start(config, log);
  } else if (command === 'init') {
    const config = configOf(parseInitConfig(sources(argv)), log);
    if (config !== undefined) await init(config, log);
  } else if (command === 'upgrade') {
    const config = configOf(parseUpgradeConfig(sources(argv)), log);
    if (config !== undefined) await runUpgrade(config, log);
  } else if (command === 'ledger' && argv[0] === 'verify') {
    const config = configOf(parseVerifyConfig(sources(argv.slice(1))), log);
    if (config !== undefined) await verifyLedger(config);
  } else if (command === 'version' || command === '--version') {
    process.stdout.write(`mon-backend version ${readVersion()}+ce, community edition, built with ${process.version}\n`);
  } else if (command === 'help' && COMMANDS_WITH_FLAGS.includes(argv.join(' '))) {
    await run([...argv, '--help'], log);
  } else if (command === 'help' || command === '--help' || command === '-h') {
    process.stdout.write(USAGE);
  } else {
    const name = command === 'ledger' ? `ledger ${argv[0] ?? ''}`.trim() : command;
    const meant = suggestion(name, COMMANDS);
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    throw new ConfigError([{ flag: undefined, rule: `unknown command "${name}" for "mon-backend"${hint}` }]);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof StoreTooNew) return EXIT_STORE_TOO_NEW;
  const halts = [StoreDamaged, StoreOutdated, StoreTooOld, BackupFailed, MigrationFailed];
  return halts.some((halt) => error instanceof halt) ? EXIT_HALTED : 1;
}

ignoreSignals();
const log = createLogger('mon-backend', 'warn');
const environment = hideSecrets(log);
run(process.argv.slice(2), log).catch((error: unknown) => {
  if (error instanceof ConfigError) {
    for (const { flag, rule } of error.mistakes) log.fatal({ flag, error: rule }, 'error executing mon-backend');
  } else {
    log.fatal({ err: error }, error instanceof Error ? error.message : 'error executing mon-backend');
  }
  // A part that was opened before the error may still have timers.
  void exitWith(exitCodeOf(error), log);
});
