import { existsSync } from 'node:fs';
import type { UpgradeConfig } from '../../config/upgrade.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { afterPrefix } from '../../store/encoding/keyspace.ts';
import { removeOldBackups } from '../../store/maintenance/old-backups.ts';
import { assertChecksHaveNamespaces } from '../../store/maintenance/orphaned-checks.ts';
import { RawStore } from '../../store/lmdb/raw-store.ts';
import { StoreInUse } from '../../store/lmdb/store-lock.ts';
import { assertReadable } from '../../store/no-store.ts';
import { readStoreState, type StoreState } from '../../store/maintenance/store-state.ts';
import { assertKnown, STORE_VERSION } from '../../store/lmdb/store-version.ts';
import { recordCurrent, type UpgradeProgress, upgradeStore } from '../../store/maintenance/upgrade.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import { confirm } from './confirm.ts';
import { previewUpgrade } from './preview-upgrade.ts';
import { createMissingNamespaces } from './create-missing-namespaces.ts';
import type { Console } from './questions.ts';

const LOCK_RETRY_MS = 200;
const PROGRESS_INTERVAL_MS = 5_000;

/** The upgrade did not start, or the operator stopped it. */
export class UpgradeStopped extends Error {
  readonly code = 'upgrade-stopped';
}

export interface UpgradePorts {
  console: Console;
  clock: Clock;
  log: Log;
  /** Version of this program. */
  program: string;
  /** Called after the confirmation. The signal that it returns stops the upgrade after the current batch. */
  stopSignal(): AbortSignal;
}

/**
 * The command `mon-backend upgrade`: asks for a confirmation, then brings the store to the version of this program. The result is
 * on the console's output, the progress is in the log.
 *
 * @throws StoreDenied, NotADirectory, StoreDamaged, StoreTooNew, StoreTooOld, OrphanedChecks, BackupFailed, MigrationFailed
 * @throws UpgradeStopped when there is no store, another process uses it, or the operator does not confirm
 */
export async function upgrade(config: UpgradeConfig, ports: UpgradePorts): Promise<void> {
  const directory = storeDirectory(config.stateDir);
  assertReadable(directory);
  const state = await readStoreState(directory);
  if (state === undefined) throw new UpgradeStopped(`store is not initialized: there is none in ${directory}`);
  assertKnown(state.version);
  if (config.dryRun) {
    if (!config.createMissingNamespaces) await assertNamespacesOfChecks(directory);
    ports.console.output.write(await previewUpgrade(directory, state, config.backups.directory));
    return;
  }
  if (isCurrent(state)) {
    if (config.createMissingNamespaces) await createNamespaces(config, ports);
    await reportCurrent(config, state, ports);
    return;
  }
  const { directory: backupDirectory, keep } = config.backups;
  if (!config.skipConfirm) await askToUpgrade({ directory, backupDirectory, state }, ports.console);
  const { clock, log, program, console } = ports;
  const signal = ports.stopSignal();
  const lock = await lockWithin(config, clock, signal);
  try {
    const damaged = new Set<string>();
    const logProgress = progressLog(log, clock);
    const report = (progress: UpgradeProgress): void => {
      if (progress.type === 'record.unreadable') damaged.add(`${progress.table} ${progress.key}`);
      logProgress(progress);
    };
    const nowMs = () => clock.nowMs();
    if (!config.createMissingNamespaces) await assertNamespacesOfChecks(directory);
    const result = await upgradeStore({ directory, backupDirectory, program, nowMs, signal, report });
    // Another process upgraded the store while this one waited for the lock.
    if (result === undefined) console.output.write(alreadyRun(program));
    else {
      const { from, to, backup } = result;
      console.output.write(`upgraded database from schema ${from} to ${to} (backup: ${backup})\n`);
      for (const path of removeOldBackups(backupDirectory, 'upgrade', keep)) log.warn({ path }, 'old backup removed');
      if (damaged.size > 0) console.output.write(damagedRecords(damaged.size));
    }
    if (config.createMissingNamespaces) await createAndReport(directory, ports);
  } finally {
    lock.release();
  }
}

/** @throws OrphanedChecks before anything is changed */
async function assertNamespacesOfChecks(directory: string): Promise<void> {
  const store = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    assertChecksHaveNamespaces((prefix) => store.keysOf('resources', { from: prefix, to: afterPrefix(prefix) }));
  } finally {
    await store.close();
  }
}

async function createNamespaces(config: UpgradeConfig, ports: UpgradePorts): Promise<void> {
  const { stateDir } = config;
  const lock = await lockWithin(config, ports.clock, ports.stopSignal());
  try {
    await createAndReport(storeDirectory(stateDir), ports);
  } finally {
    lock.release();
  }
}

async function createAndReport(directory: string, { clock, console }: UpgradePorts): Promise<void> {
  const created = await createMissingNamespaces(directory, clock);
  console.output.write(
    created.length === 0 ? 'no namespace is missing\n' : `created namespaces: ${created.join(', ')}\n`,
  );
}

const isCurrent = ({ version, unfinished }: StoreState): boolean =>
  unfinished === undefined && version === STORE_VERSION;

const alreadyRun = (program: string): string =>
  `upgrade was already run: schema ${STORE_VERSION}, version ${program}\n`;

const damagedRecords = (count: number): string =>
  count === 1
    ? '1 damaged record was left as it is, the next start sets it aside; see the log\n'
    : `${count} damaged records were left as they are, the next start sets them aside; see the log\n`;

async function reportCurrent(
  { stateDir, controlSocket }: UpgradeConfig,
  { last }: StoreState,
  ports: UpgradePorts,
): Promise<void> {
  const { console, clock, log, program } = ports;
  log.warn({ database_version: STORE_VERSION }, 'database already up to date');
  if (last?.program === program) {
    console.output.write(alreadyRun(program));
    return;
  }
  console.output.write(`nothing was upgraded: version ${program} has no datastore changes\n`);
  try {
    const lock = await ownStore(stateDir, controlSocket);
    try {
      await recordCurrent(storeDirectory(stateDir), program, clock.nowMs());
    } finally {
      lock.release();
    }
  } catch (error) {
    // A running backend owns the store. The record only changes the message of the next run.
    if (!(error instanceof StoreInUse)) throw error;
  }
}

interface Plan {
  directory: string;
  backupDirectory: string;
  state: StoreState;
}

/** @throws UpgradeStopped unless the operator confirms */
async function askToUpgrade({ directory, backupDirectory, state }: Plan, console: Console): Promise<void> {
  if (console.input.isTTY !== true) throw new UpgradeStopped('confirmation required, use --skip-confirm');
  const { version, unfinished } = state;
  const what =
    unfinished === undefined
      ? `The store in ${directory} has version ${version}. The upgrade brings it to version ${STORE_VERSION}.
It first makes a backup in ${backupDirectory}.`
      : `An upgrade of the store in ${directory} from version ${unfinished.from} did not finish.
The upgrade continues it to version ${STORE_VERSION}. Its backup is ${unfinished.backup}.`;
  console.output.write(`${what}
This cannot be undone, except by going back to the backup. Please keep a backup of your own as well.
`);
  if (!(await confirm('Upgrade the store?', console))) throw new UpgradeStopped('upgrade aborted by operator');
}

/** Locks the store as soon as another process releases it. @throws UpgradeStopped when that takes too long */
async function lockWithin(
  { stateDir, controlSocket, timeoutMs }: UpgradeConfig,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ release(): void }> {
  const untilMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ownStore(stateDir, controlSocket);
    } catch (error) {
      if (!(error instanceof StoreInUse)) throw error;
      if (clock.monotonicMs() >= untilMs) {
        throw new UpgradeStopped(`${error.message}; stop it, then run "mon-backend upgrade" again`, { cause: error });
      }
    }
    await new Promise<void>((resolve) => void clock.after(LOCK_RETRY_MS, resolve));
  }
}

/** Logs the progress of an upgrade; the number of converted records only at intervals. */
function progressLog(log: Log, clock: Clock): (progress: UpgradeProgress) => void {
  let records = 0;
  let lastAtMs = clock.monotonicMs();
  return (progress) => {
    switch (progress.type) {
      case 'backup.begun':
        log.warn({ path: progress.path }, 'making a backup');
        break;
      case 'backup.made': {
        const { path, records: copied, ledger } = progress.backup;
        log.warn({ path, records: copied }, 'backup is complete and equal to the store');
        if (!ledger.ok) log.warn({ seq: ledger.seq, reason: ledger.reason }, 'the ledger of the store is broken');
        break;
      }
      case 'upgrade.begun':
      case 'upgrade.resumed': {
        const { from, to, backup } = progress;
        log.warn({ from, to }, progress.type === 'upgrade.begun' ? 'upgrading database' : 'continuing the upgrade');
        if (!existsSync(backup)) log.warn({ path: backup }, 'the backup of this upgrade is no longer there');
        break;
      }
      case 'records.converted':
        records += progress.records;
        if (clock.monotonicMs() - lastAtMs < PROGRESS_INTERVAL_MS) break;
        lastAtMs = clock.monotonicMs();
        log.warn({ to: progress.to, table: progress.table, records }, 'upgrading database');
        break;
      case 'record.unreadable':
        log.warn({ table: progress.table, key: progress.key }, 'record is damaged and stays as it is');
        break;
      case 'step.finished':
        log.warn({ to: progress.to, name: progress.name }, 'upgrade step finished');
        break;
      case 'backup.copied':
      case 'backup.compared':
      case 'upgrade.finished':
        break;
    }
  };
}
