import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { KeyQuery, KeySlice } from '../../src/store/ledger/ledger-query.ts';

/** Returns the slice of a key from all its entries, oldest first. */
export function sliceOfKey(entries: readonly LedgerEntry[], query: KeyQuery): KeySlice {
  const { actor, key, untilMs = Infinity, beforeSeq = Infinity, limit } = query;
  const found = entries
    .filter((entry) => entry.actor === actor && entry.key === key && entry.seq < beforeSeq && entry.atMs <= untilMs)
    .toReversed();
  const first = found.slice(0, limit);
  return { entries: first, beforeSeq: found.length > limit ? first.at(-1)?.seq : undefined };
}
