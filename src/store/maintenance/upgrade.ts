import { join } from 'node:path';
import { type Backup, makeBackup } from './backup.ts';
import { yieldToEventLoop } from './durable-files.ts';
import type { Migration, RecordWrite } from '../migrations/migration.ts';
import { MIGRATIONS, OLDEST_VERSION } from '../migrations/migrations.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import {
  assertKnown,
  type FinishedUpgrade,
  LAST_UPGRADE_KEY,
  STORE_VERSION,
  STORE_VERSION_KEY,
  type UnfinishedUpgrade,
  UPGRADE_KEY,
} from '../lmdb/store-version.ts';

/** The bounds of one transaction, whichever comes first. */
const MAX_BATCH_RECORDS = 1_000;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** The progress reports of an upgrade. The process may end after each of them, and the next upgrade continues. */
export type UpgradeProgress =
  | { type: 'backup.begun'; path: string }
  | { type: 'backup.copied' }
  | { type: 'backup.compared' }
  | { type: 'backup.made'; backup: Backup }
  | { type: 'upgrade.begun' | 'upgrade.resumed'; from: number; to: number; backup: string }
  | { type: 'records.converted'; to: number; table: string; records: number }
  /** The checksum of a record does not match. The upgrade does not change the record; the next start sets it aside. */
  | { type: 'record.unreadable'; table: string; key: string }
  | { type: 'step.finished'; to: number; name: string }
  | { type: 'upgrade.finished'; result: FinishedUpgrade };

export interface UpgradeOptions {
  /** Directory of the store. The caller holds its lock. */
  directory: string;
  /** The directory in which the backup is created. */
  backupDirectory: string;
  /** Version of this program, for the record of the upgrade. */
  program: string;
  nowMs(): number;
  /** Ends the upgrade after the current batch. */
  signal: AbortSignal;
  report(progress: UpgradeProgress): void;
  /** The steps; by default all steps of this program. */
  migrations?: readonly Migration[];
}

/** A record could not be converted. The store has the changes of all earlier batches. */
export class MigrationFailed extends Error {
  readonly code = 'migration-failed';
}

/**
 * Brings a store to the newest version. A verified backup precedes the first change. Each batch of records is one transaction that
 * also holds the position of the upgrade, so that an upgrade that was interrupted continues where it stopped.
 *
 * @returns the record of the upgrade, or undefined when there was nothing to upgrade
 * @throws StoreTooNew, StoreTooOld, BackupFailed, MigrationFailed, or the reason of `signal`
 */
export async function upgradeStore(options: UpgradeOptions): Promise<FinishedUpgrade | undefined> {
  const store = new RawStore({ directory: options.directory, sync: 'full' });
  try {
    return await new Upgrade(store, options).run();
  } finally {
    await store.close();
  }
}

/** Records that a program found nothing to upgrade in a store whose lock the caller holds. */
export async function recordCurrent(directory: string, program: string, atMs: number): Promise<void> {
  const store = new RawStore({ directory, sync: 'full' });
  try {
    const result: FinishedUpgrade = { program, from: STORE_VERSION, to: STORE_VERSION, atMs };
    store.write([], { [LAST_UPGRADE_KEY]: result });
  } finally {
    await store.close();
  }
}

class Upgrade {
  readonly #store: RawStore;
  readonly #options: UpgradeOptions;
  readonly #migrations: readonly Migration[];

  constructor(store: RawStore, options: UpgradeOptions) {
    this.#store = store;
    this.#options = options;
    this.#migrations = options.migrations ?? MIGRATIONS;
  }

  async run(): Promise<FinishedUpgrade | undefined> {
    const version = Number(this.#store.meta(STORE_VERSION_KEY));
    const unfinished = this.#store.meta(UPGRADE_KEY) as UnfinishedUpgrade | undefined;
    const to = this.#migrations.at(-1)?.to ?? OLDEST_VERSION;
    assertKnown(version, to);
    if (unfinished === undefined && version === to) return undefined;
    let state = unfinished ?? (await this.#begin(version, to));
    if (unfinished !== undefined) {
      this.#options.report({ type: 'upgrade.resumed', from: unfinished.from, to, backup: unfinished.backup });
    }
    for (const migration of this.#migrations) {
      if (migration.to < state.step.to) continue;
      if (migration.to > state.step.to) state = this.#enter(state, migration.to);
      state = await this.#runStep(state, migration);
      this.#options.report({ type: 'step.finished', to: migration.to, name: migration.name });
    }
    return this.#finish(state);
  }

  async #begin(from: number, to: number): Promise<UnfinishedUpgrade> {
    const { backupDirectory, nowMs, signal, report } = this.#options;
    const stamp = new Date(nowMs()).toISOString().replace(/[-:]|\.\d+/g, '');
    const path = join(backupDirectory, `pre-${from}-${to}-${stamp}.mdb`);
    report({ type: 'backup.begun', path });
    const backup = await makeBackup(this.#store, {
      path,
      signal,
      reached: (point) => {
        report({ type: `backup.${point}` });
      },
    });
    report({ type: 'backup.made', backup });
    const state = this.#enter({ from, backup: path, step: { to: from, pass: 0, after: null } }, from + 1);
    report({ type: 'upgrade.begun', from, to, backup: path });
    return state;
  }

  /** Writes the new version before the first record changes, so that an older program rejects the store from then on. */
  #enter(state: UnfinishedUpgrade, to: number): UnfinishedUpgrade {
    const entered = { ...state, step: { to, pass: 0, after: null } };
    this.#store.write([], { [STORE_VERSION_KEY]: to, [UPGRADE_KEY]: entered });
    return entered;
  }

  async #runStep(begun: UnfinishedUpgrade, migration: Migration): Promise<UnfinishedUpgrade> {
    let state = begun;
    for (const [index, pass] of migration.passes.entries()) {
      if (index < state.step.pass) continue;
      let after = index === state.step.pass ? state.step.after : null;
      for (;;) {
        await yieldToEventLoop(this.#options.signal);
        const batch = this.#store.batch(pass, after, { maxRecords: MAX_BATCH_RECORDS, maxBytes: MAX_BATCH_BYTES });
        if (batch.lastKey === undefined) break;
        const writes = batch.records.flatMap((record) =>
          convert(migration, () => pass.writes(record), pass.table, record.key),
        );
        after = batch.lastKey;
        state = { ...state, step: { to: migration.to, pass: index, after } };
        this.#store.write(writes, { [UPGRADE_KEY]: state });
        const { report } = this.#options;
        for (const key of batch.unreadable) report({ type: 'record.unreadable', table: pass.table, key });
        report({ type: 'records.converted', to: migration.to, table: pass.table, records: batch.records.length });
      }
    }
    return state;
  }

  #finish({ from, backup, step }: UnfinishedUpgrade): FinishedUpgrade {
    const { program, nowMs, report } = this.#options;
    const result: FinishedUpgrade = { program, from, to: step.to, atMs: nowMs(), backup };
    this.#store.write([], { [UPGRADE_KEY]: null, [LAST_UPGRADE_KEY]: result });
    report({ type: 'upgrade.finished', result });
    return result;
  }
}

/** @throws MigrationFailed that names the step and the record */
function convert(
  { to, name }: Migration,
  make: () => readonly RecordWrite[],
  table: string,
  key: string,
): readonly RecordWrite[] {
  try {
    return make();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationFailed(`the step to version ${to} (${name}) failed at ${table} ${key}: ${reason}`, {
      cause: error,
    });
  }
}
