import { type LedgerHead, type Verification, verify } from './ledger.ts';
import { IndexComparison } from './ledger-index.ts';
import { RawStore } from './raw-store.ts';
import { readStoreState, reportingDamage } from './store-state.ts';
import { assertKnown } from './store-version.ts';

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
  const hasActors = state.version >= FIRST_WITH_ACTORS && state.unfinished === undefined;
  return reportingDamage(directory, async () => {
    const store = new RawStore({ directory, sync: 'full', readOnly: true });
    try {
      const comparison = new IndexComparison(store.indexedLedger(), hasActors);
      const result = verify(comparison.over(store.ledgerEntries()), anchor);
      const difference = result.ok ? comparison.result() : undefined;
      return difference === undefined ? result : { ok: false, ...difference };
    } finally {
      await store.close();
    }
  });
}
