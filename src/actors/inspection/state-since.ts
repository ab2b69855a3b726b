import type { ActorAddress } from '../../resources/actor-address.ts';
import type { LedgerEntry } from '../../store/ledger/ledger.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

/** The maximum number of ledger entries that are read before the newest one, for one actor. */
const MAX_READ = 100;
/** Entries that are read at once: the change of the state is usually among the newest. */
const SLICE = 10;
/** The maximum number of such entries that one answer reads, for all of its actors. */
const MAX_READ_TOGETHER = 2_000;

/** Finds since when actors are in their states, for one answer. */
export class StateTimes {
  readonly #store: Pick<TransactionalStore, 'lastLedgerEntry' | 'ledgerSliceOfKey'>;
  #left = MAX_READ_TOGETHER;

  constructor(store: Pick<TransactionalStore, 'lastLedgerEntry' | 'ledgerSliceOfKey'>) {
    this.#store = store;
  }

  /**
   * Returns when an actor entered its current state, Unix ms. Entries that leave the state as it is are ignored, such as a silence
   * that is added to a failing check, or a request to wake. Undefined if none of the entries that may be read changes the state.
   */
  sinceMs({ actor, key }: ActorAddress): number | undefined {
    const last = this.#store.lastLedgerEntry(actor, key);
    if (last === undefined || isChange(last)) return last?.atMs;
    let beforeSeq: number | undefined = last.seq;
    for (let read = 0; read < MAX_READ && this.#left > 0 && beforeSeq !== undefined; read += SLICE) {
      this.#left -= SLICE;
      const slice = this.#store.ledgerSliceOfKey({ actor, key, beforeSeq, limit: SLICE });
      const change = slice.entries.find(isChange);
      if (change !== undefined) return change.atMs;
      ({ beforeSeq } = slice);
    }
    return undefined;
  }
}

const isChange = ({ from, to }: LedgerEntry): boolean => from !== to;
