import { type LedgerHead } from '../ledger/ledger.ts';
import { type Verification, verify } from '../ledger/ledger-verification.ts';
import { IndexComparison } from '../ledger/ledger-index.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { readStoreState, reportingDamage } from './store-state.ts';
import { assertKnown } from '../lmdb/store-version.ts';

/** The store version since which the ledger has an index by actor. */
const FIRST_WITH_ACTORS = 4;

/**
 * Verifies the ledger of a store and compares its indexes with it, also while a backend uses the store. The ledger is the same in all
 * store versions, so that a store of an older version needs no upgrade. Undefined when there is no store.
 *
 * @throws StoreDamaged, StoreTooNew, StoreTooOld
 */
export async function verifyStoredLedger(
  directory: string,
  anchor: LedgerHead | undefined,
): Promise<Verification | undefined> {
  const state = await readStoreState(directory);
  if (state === undefined) return undefined;
  assertKnown(state.version);
  const hasActors = hasActorIndex(state.version, state.unfinished !== undefined);
  return reportingDamage(directory, async () => {
    const store = new RawStore({ directory, sync: 'full', readOnly: true });
    try {
      return verifyLedgerOf(store, hasActors, anchor);
    } finally {
      await store.close();
    }
  });
}

/** Verifies the ledger of an open store and compares its indexes with it. `hasActors` says whether it has an index by actor. */
export function verifyLedgerOf(store: RawStore, hasActors: boolean, anchor?: LedgerHead): Verification {
  const comparison = new IndexComparison(store.indexedLedger(), hasActors);
  const result = verify(comparison.over(store.ledgerEntries()), { anchor });
  const difference = result.ok ? comparison.result() : undefined;
  return difference === undefined ? result : { ok: false, ...difference };
}

/** Whether a store has an index of the ledger by actor. */
export const hasActorIndex = (version: number, isUpgrading: boolean): boolean =>
  version >= FIRST_WITH_ACTORS && !isUpgrading;
