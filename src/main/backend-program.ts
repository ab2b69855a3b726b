import { existsSync, readFileSync } from 'node:fs';
import { AlreadyInitialized } from '../actors/administration/initial-resources.ts';
import { type BackendConfig, parseBackendConfig } from '../config/backend.ts';
import { type InitConfig, parseInitConfig } from '../config/init.ts';
import { parseUpgradeConfig, type UpgradeConfig } from '../config/upgrade.ts';
import { parseVerifyConfig, type VerifyConfig } from '../config/verify.ts';
import { ConfigError, type Parsed, type Sources } from '../config/parsing/flags.ts';
import type { Clock } from '../ports/clock.ts';
import { GENESIS, type LedgerHead } from '../store/ledger/ledger.ts';
import { verifyExport } from '../store/maintenance/ledger-export.ts';
import { assertReadable, NoStore } from '../store/no-store.ts';
import { verifyStoredLedger } from '../store/maintenance/stored-ledger.ts';
import { OrphanedChecks } from '../store/maintenance/orphaned-checks.ts';
import { StoreDamaged } from '../store/maintenance/store-damaged.ts';
import { CorruptRecord } from '../store/encoding/sealed.ts';
import { StoreInUse } from '../store/lmdb/store-lock.ts';
import { readStoreState } from '../store/maintenance/store-state.ts';
import { StoreOutdated, StoreTooNew, StoreTooOld } from '../store/lmdb/store-version.ts';
import { BackupFailed } from '../store/maintenance/backup.ts';
import { MigrationFailed } from '../store/maintenance/upgrade.ts';
import { askForAdmin } from './init/ask-admin.ts';
import { initialiseThrough } from './serve/control-socket.ts';
import { controlSocketPath, STORE, storeDirectory } from './process/directories.ts';
import { ensureDirectory, prepareCache } from './process/ensure-directory.ts';
import { type FirstAdministrator, initialise, prepareInitialResources } from './init/initialise.ts';
import type { BackendHost } from './backend-host.ts';
import { upgrade, UpgradeStopped } from './init/upgrade.ts';
import { openLogFile } from './log/open-log-file.ts';
import type { Logger } from './log/logger.ts';
import { MAINTENANCE, runMaintenance } from './maintenance.ts';
import { assertNoFormerStore, FormerStateDirFound } from './process/former-state-dir.ts';
import type { Host } from './process/host.ts';
import { memorySource } from './process/memory-source.ts';
import { notifyReady } from './process/notify-ready.ts';
import { abortedByStopSignal, onStopSignal } from './process/on-stop-signal.ts';
import { assertNotServed } from './process/own-store.ts';
import { warnOfNotifications, warnOfOtherOwner, warnOfRootCommands } from './process/privileges.ts';
import { checkStoreFiles } from './process/check-store-files.ts';
import { SecretVariables } from './process/secret-variables.ts';
import { readVersion } from './process/version.ts';
import { aboutProgram } from './about-program.ts';

const USAGE = `Usage: mon-backend <command>

Commands:
  start          run the backend in the foreground
  init           create the first administrator and the resources of a fresh installation
  upgrade        convert the store to the version of this program
${Object.entries(MAINTENANCE)
  .map(([name, about]) => `  ${name.padEnd(15)}${about}\n`)
  .join('')}  ledger verify  verify the ledger and name the first broken entry
  version        print the version, as --version does
  help           print this text, or the flags of a command
`;

/** `help <command>` prints their flags. */
const COMMANDS_WITH_FLAGS = ['start', 'init', 'upgrade', ...Object.keys(MAINTENANCE), 'ledger verify'];

const COMMANDS = [...COMMANDS_WITH_FLAGS, 'version', 'help'];

const EXIT_ALREADY_INITIALIZED = 3;
const EXIT_STORE_TOO_NEW = 4;
/** The store must be upgraded first, its upgrade halted, it is damaged, or it is in the former default directory. */
const EXIT_HALTED = 5;
const STOP_LIMIT_MS = 30_000;
const INIT_RETRY_MS = 1_000;

const sourcesOf =
  ({ environment, columns }: Host) =>
  (argv: readonly string[]): Sources => ({
    argv,
    env: environment,
    readFile: (path) => readFileSync(path, 'utf8'),
    columns,
  });

type Configured<T> = Exclude<Parsed<T>, { help: string }>;

/** The configuration with its warnings, or undefined when only its help or its settings were asked for, which are printed. */
function configured<T>(parsed: Parsed<T>, host: Host, log: Logger): Configured<T> | undefined {
  if (!('help' in parsed)) return parsed;
  for (const { message, fields } of parsed.warnings ?? []) log.warn(fields, message);
  host.print(parsed.help);
  return undefined;
}

/** The configuration, or undefined when only its help was asked for. Logs the warnings. */
function configOf<T>(given: Parsed<T>, host: Host, log: Logger): T | undefined {
  const parsed = configured(given, host, log);
  if (parsed === undefined) return undefined;
  for (const { message, fields } of parsed.warnings) log.warn(fields, message);
  return parsed.config;
}

async function start({ config, warnings }: Configured<BackendConfig>, host: BackendHost, log: Logger): Promise<void> {
  const { clock } = host;
  log.setLevel(config.logLevel);
  const logFile = await openLogFile(config.logFile, { clock, log });
  for (const { message, fields } of warnings) log.warn(fields, message);
  const secretValues = SecretVariables.take(config.secretVariables ?? [], log);
  assertNoFormerStore(config);
  ensureDirectory('state-dir', config.stateDir, STORE);
  prepareCache('cache-dir', config.cacheDir, log);
  warnOfRootCommands(config.commandUser, log);
  warnOfNotifications(config.commandUser, log);
  warnOfOtherOwner(config.stateDir, log);
  await assertNotServed(config.stateDir, config.controlSocket);
  const { startBackend, readMachine } = await host.load();
  const machine = await readMachine(clock, log);
  const memory = memorySource(config.memoryLimitBytes ?? 0);
  const starting = startBackend(config, { clock, log, machine, secretValues, memory, checkStoreFiles });
  // Installed before the backend runs, so that no signal ends the process without a clean stop.
  const stop = (signal: NodeJS.Signals): void => {
    log.warn({ signal }, 'signal received, shutting down backend');
    const cancelLimit = clock.after(STOP_LIMIT_MS, () => {
      log.fatal({ 'limit-ms': STOP_LIMIT_MS }, 'backend did not shut down in time, ending at once');
      host.exit(1);
    });
    starting
      .then((backend) => backend.stop())
      .finally(cancelLimit)
      .then(
        () => host.exit(0),
        (err: unknown) => {
          log.fatal({ err }, 'backend did not shut down gracefully');
          host.exit(1);
        },
      );
  };
  const again = (signal: NodeJS.Signals): void => {
    log.fatal({ signal }, 'second signal received, ending at once');
    host.exit(1);
  };
  onStopSignal({ first: stop, again }, { on: host.on });
  host.on('SIGHUP', () => {
    starting
      .then((backend) => Promise.all([backend.reloadCertificates(), backend.reopenLogs(), logFile?.reopen()]))
      .catch((err: unknown) => {
        log.error({ err }, 'could not reload the certificates or reopen the logs');
      });
  });
  host.on('SIGUSR1', () => {
    log.warn({ 'log-level': log.stepLevel() }, 'log level set');
  });
  await starting;
  notifyReady(log);
}

/** Initialises the store itself, or through the backend that uses it. Returns the exit code. */
async function init(config: InitConfig, host: BackendHost, log: Logger): Promise<number> {
  const { stateDir, wait, ignoreAlreadyInitialized } = config;
  assertNoFormerStore(config);
  ensureDirectory('state-dir', stateDir, STORE);
  warnOfOtherOwner(stateDir, log);
  await readStoreState(storeDirectory(stateDir));
  const asked = config.admin ?? (await askForAdmin(host.console));
  const admin = { ...asked, restrictsEdit: config.restrictEdit };
  for (;;) {
    try {
      await initialiseOnce(config, admin, host.clock);
      log.warn({ username: admin.username }, 'store initialized');
      return 0;
    } catch (error) {
      if (error instanceof AlreadyInitialized) {
        log.warn({}, 'store already initialized');
        return ignoreAlreadyInitialized ? 0 : EXIT_ALREADY_INITIALIZED;
      }
      if (!wait || !isUnreachable(error)) throw error;
      log.warn({ err: error }, 'backend cannot be reached yet');
      await new Promise<void>((resolve) => void host.clock.after(INIT_RETRY_MS, resolve));
    }
  }
}

async function initialiseOnce(config: InitConfig, admin: FirstAdministrator, clock: Clock): Promise<void> {
  const { stateDir, controlSocket, timeoutMs } = config;
  try {
    await initialise(stateDir, admin, clock, prepareInitialResources, controlSocket);
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    await initialiseThrough(controlSocketPath(stateDir, controlSocket), admin, timeoutMs);
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof StoreInUse || ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function runUpgrade(config: UpgradeConfig, host: BackendHost, log: Logger): Promise<void> {
  const { console, clock } = host;
  warnOfOtherOwner(config.stateDir, log);
  const interrupted = new UpgradeStopped('upgrade interrupted; run "mon-backend upgrade" again to continue it');
  const stopSignal = (): AbortSignal => abortedByStopSignal(interrupted, host);
  await upgrade(config, { console, clock, log, program: readVersion(), stopSignal });
}

/** Verifies the ledger, also while a backend uses the store. Returns the exit code. */
async function verifyLedger({ stateDir, anchor, exported }: VerifyConfig, host: BackendHost): Promise<number> {
  const directory = storeDirectory(stateDir);
  if (exported === undefined) assertReadable(directory);
  if (exported === undefined && !existsSync(directory)) throw new NoStore(directory);
  const result = exported === undefined ? await verifyStoredLedger(directory, anchor) : verifyExport(exported, anchor);
  if (result === undefined) throw new NoStore(directory);
  if (result.ok) {
    const { head, base = GENESIS } = result;
    const from = base.seq === 0 ? '' : `, from ${base.seq + 1} on`;
    host.print(`ledger ok: ${head.seq - base.seq} entries${from}, head ${head.seq}:${head.hash}\n`);
    return 0;
  }
  host.printError(result.head === undefined ? broken(result) : endsBefore(result.head, anchor));
  return 1;
}

const broken = ({ seq, reason }: { seq: number; reason: string }): string =>
  `ledger broken at entry ${seq}: ${reason}\n`;

const endsBefore = ({ seq, hash }: LedgerHead, anchor: LedgerHead | undefined): string =>
  `the ledger ends at entry ${seq}:${hash}, before the anchored entry ${anchor?.seq}; its chain is intact up to there: ` +
  'the store was restored from a backup that is older than the anchor, its end was cut off, or the anchor is of another ledger\n';

/** Runs a command. Returns the exit code; a backend that was started is ended by the host. */
async function run([command = 'help', ...argv]: readonly string[], host: BackendHost, log: Logger) {
  const sources = sourcesOf(host);
  const configIn = <T>(parsed: Parsed<T>): T | undefined => configOf(parsed, host, log);
  if (command === 'start') {
    const parsed = configured(parseBackendConfig(sources(argv)), host, log);
    if (parsed === undefined) return 0;
    await start(parsed, host, log);
    return undefined;
  }
  if (command === 'init') {
    const config = configIn(parseInitConfig(sources(argv)));
    return config === undefined ? 0 : init(config, host, log);
  }
  if (command === 'upgrade') {
    const config = configIn(parseUpgradeConfig(sources(argv)));
    if (config !== undefined) await runUpgrade(config, host, log);
    return 0;
  }
  if (Object.hasOwn(MAINTENANCE, command)) {
    return runMaintenance(command, argv, { sources, configOf: configIn, host, log });
  }
  if (command === 'ledger' && argv[0] === 'export') return run(['ledger export', ...argv.slice(1)], host, log);
  if (command === 'ledger' && argv[0] === 'verify') {
    const config = configIn(parseVerifyConfig(sources(argv.slice(1))));
    return config === undefined ? 0 : verifyLedger(config, host);
  }
  if (command === 'help' && COMMANDS_WITH_FLAGS.includes(argv.join(' '))) return run([...argv, '--help'], host, log);
  host.print(aboutProgram([command, ...argv], { program: 'mon-backend', usage: USAGE, commands: COMMANDS }));
  return 0;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof StoreTooNew) return EXIT_STORE_TOO_NEW;
  const halts = [
    FormerStateDirFound,
    OrphanedChecks,
    StoreDamaged,
    CorruptRecord,
    StoreOutdated,
    StoreTooOld,
    BackupFailed,
    MigrationFailed,
  ];
  return halts.some((halt) => error instanceof halt) ? EXIT_HALTED : 1;
}

/**
 * Runs a command of the program. Returns the exit code, or undefined while a backend runs, which ends by `exit` of the host.
 * Errors are logged and end the program.
 */
export async function runBackend(argv: readonly string[], host: BackendHost, log: Logger): Promise<number | undefined> {
  try {
    return await run(argv, host, log);
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const { flag, rule } of error.mistakes) log.fatal({ flag, error: rule }, 'error executing mon-backend');
    } else {
      log.fatal({ err: error }, 'error executing mon-backend');
    }
    // A part that was opened before the error may still have timers.
    host.exit(exitCodeOf(error));
    return undefined;
  }
}
