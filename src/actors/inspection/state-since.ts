import type { ActorAddress } from '../../resources/actor-address.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

/** Entries without a change of the state that are read back. */
const MAX_READ = 100;

/**
 * Returns when an actor entered its present state, Unix ms. Entries that leave the state as it is are passed over, such as a silence
 * that is added to a failing check, or a request to wake. Undefined if the newest entries of the actor have no change of the state.
 */
export function stateSinceMs(
  store: Pick<TransactionalStore, 'lastLedgerEntry' | 'ledgerSliceOfKey'>,
  { actor, key }: ActorAddress,
): number | undefined {
  const last = store.lastLedgerEntry(actor, key);
  if (last === undefined || last.from !== last.to) return last?.atMs;
  const { entries } = store.ledgerSliceOfKey({ actor, key, beforeSeq: last.seq, limit: MAX_READ });
  return entries.find(({ from, to }) => from !== to)?.atMs;
}
