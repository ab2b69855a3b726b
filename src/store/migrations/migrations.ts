import { INCIDENTS } from './incidents.ts';
import { LEDGER_BY_ACTOR } from './ledger-by-actor.ts';
import { LEDGER_HASHES } from './ledger-hashes.ts';
import type { Migration } from './migration.ts';
import { NOTIFICATION_LOG } from './notification-log.ts';
import { SNAPSHOT_VERSIONS } from './snapshot-versions.ts';

/** The version of the oldest store that can be upgraded: the one that the first release wrote. */
export const OLDEST_VERSION = 2;

/**
 * The steps from each store version to the next, oldest first. The list is append-only: a change of the stored format adds a step
 * at its end and a fixture in `spec/store/fixtures` that the version before it wrote.
 */
export const MIGRATIONS: readonly Migration[] = [
  SNAPSHOT_VERSIONS,
  LEDGER_BY_ACTOR,
  NOTIFICATION_LOG,
  INCIDENTS,
  LEDGER_HASHES,
];
