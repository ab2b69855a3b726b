import { expect } from 'chai';
import { StateTimes } from '../../../src/actors/inspection/state-since.ts';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';

describe('the times since which the actors of one answer are in their states', () => {
  let read: number;

  /** Entries of one actor: the oldest enters the state, and `unchanged` ones after it leave the state as it is. */
  function timesWith(unchanged: number): StateTimes {
    read = 0;
    const entryAt = (seq: number) =>
      ({ seq, atMs: seq, from: seq === 0 ? null : 'failing', to: 'failing' }) as LedgerEntry;
    return new StateTimes({
      lastLedgerEntry: () => entryAt(unchanged),
      ledgerSliceOfKey: ({ beforeSeq = 0, limit }) => {
        const entries = Array.from({ length: Math.min(limit, beforeSeq) }, (_, index) =>
          entryAt(beforeSeq - 1 - index),
        );
        read += entries.length;
        return { entries, beforeSeq: entries.at(-1)?.seq };
      },
    });
  }

  const ADDRESS = { actor: 'check-state', key: 'default/web/cpu' } as const;

  it('ignore entries that do not change the state', () => {
    for (const unchanged of [0, 1, 9, 10, 11, 100])
      expect(timesWith(unchanged).sinceMs(ADDRESS), String(unchanged)).to.equal(0);
    expect(timesWith(200).sinceMs(ADDRESS)).to.equal(undefined);
  });

  it('read a bounded number of entries for all of them together', () => {
    const times = timesWith(1_000);
    for (let actor = 0; actor < 1_000; actor += 1) expect(times.sinceMs(ADDRESS)).to.equal(undefined);
    expect(read).to.equal(2_000);
  });
});
