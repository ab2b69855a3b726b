import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { LedgerQuery } from '../../src/store/ledger/ledger-query.ts';
import type { TransactionalStore } from '../../src/store/commit/transactional-store.ts';

/** Returns all entries that match, or the first `limit` of them. */
export function readLedger(
  store: Pick<TransactionalStore, 'ledgerSlice'>,
  { limit = Infinity, ...query }: Partial<LedgerQuery> = {},
): LedgerEntry[] {
  const found: LedgerEntry[] = [];
  for (let afterSeq = query.afterSeq; ;) {
    const { entries, afterSeq: next } = store.ledgerSlice({
      ...query,
      ...(afterSeq === undefined ? {} : { afterSeq }),
      limit: limit - found.length,
    });
    found.push(...entries);
    if (next === undefined || found.length >= limit) return found;
    afterSeq = next;
  }
}
