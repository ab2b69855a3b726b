import { MIGRATIONS, OLDEST_VERSION } from '../migrations/migrations.ts';

/** The version of the stored format that this program reads and writes. */
export const STORE_VERSION = MIGRATIONS.at(-1)?.to ?? OLDEST_VERSION;

/** Keys of the table `meta`. */
export const STORE_VERSION_KEY = 'store-version';
/** Holds an `UnfinishedUpgrade` from the first change of an upgrade to its last one. */
export const UPGRADE_KEY = 'upgrade';
/** Holds the `FinishedUpgrade` of the latest upgrade. */
export const LAST_UPGRADE_KEY = 'last-upgrade';

/** The progress of an upgrade. */
export interface UnfinishedUpgrade {
  /** The store version before the upgrade. */
  from: number;
  /** Path of the backup. */
  backup: string;
  /** The step that runs: the version it makes, the index of its pass, and the last key that this pass has converted. */
  step: { to: number; pass: number; after: string | null };
}

export interface FinishedUpgrade {
  /** Version of the program that upgraded the store. */
  program: string;
  from: number;
  to: number;
  /** Unix milliseconds. */
  atMs: number;
  /** Path of the backup; absent where there was nothing to upgrade. */
  backup?: string;
}

/** A newer program wrote the store. */
export class StoreTooNew extends Error {
  readonly code = 'store-too-new';
}

/** An older program wrote the store, or an upgrade of it did not finish. `mon-backend upgrade` makes it usable. */
export class StoreOutdated extends Error {
  readonly code = 'store-outdated';
}

/** The store is older than every store that can be upgraded. */
export class StoreTooOld extends Error {
  readonly code = 'store-too-old';
}

/**
 * Checks that this program can use a store as it is.
 *
 * @throws StoreTooNew, StoreOutdated, StoreTooOld
 */
export function assertCurrent(version: number, unfinished: UnfinishedUpgrade | undefined): void {
  assertKnown(version);
  if (unfinished !== undefined) {
    throw new StoreOutdated(
      `an upgrade of the store from version ${unfinished.from} did not finish; run "mon-backend upgrade" with the same --state-dir to continue it`,
    );
  }
  if (version < STORE_VERSION) {
    throw new StoreOutdated(
      `the store has version ${version}, this program needs version ${STORE_VERSION}; run "mon-backend upgrade" with the same --state-dir`,
    );
  }
}

/**
 * Checks that a program whose newest version is `newest` can use a store after an upgrade.
 *
 * @throws StoreTooNew, StoreTooOld
 */
export function assertKnown(version: number, newest = STORE_VERSION): void {
  if (version > newest) {
    throw new StoreTooNew(
      `the store has version ${version}, this program knows up to ${newest}: a newer version wrote it, and downgrade is not possible; install that version, or restore a backup from before its upgrade with "mon-backend restore <backup> --replace"`,
    );
  }
  if (version < OLDEST_VERSION) {
    throw new StoreTooOld(
      `the store has version ${version}, from before the first release; begin with an empty directory`,
    );
  }
}
