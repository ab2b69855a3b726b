import { expect } from 'chai';
import fc from 'fast-check';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { chain, GENESIS, type LedgerDraft, type LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import {
  type LedgerSegment,
  LedgerTimeSearch,
  singleSegment,
  withEntries,
} from '../../../src/store/ledger/ledger-time.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { perTest } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HOUR_MS = 3_600_000;
const START_MS = 1_700_000_000_000;

const draftAt = (atMs: number, key: string): LedgerDraft => ({
  atMs,
  actor: 'check-state',
  key,
  from: null,
  event: 'result.received',
  to: 'failing',
  cause: { user: 'ann' },
  guards: [],
  configRevision: 0,
});

/** The times of a ledger whose clock is set back by an hour twice, and jitters by a few milliseconds. */
function times(): number[] {
  const found: number[] = [];
  let nowMs = START_MS;
  for (let index = 0; index < 3_000; index += 1) {
    nowMs += 10_000;
    if (index === 1_000 || index === 2_000) nowMs -= HOUR_MS;
    found.push(index % 7 === 0 ? nowMs - 15 : nowMs);
    if (index % 11 === 0) found.push(nowMs - 3);
  }
  return found;
}

describe('the search of the ledger by time', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  async function withLedger(use: (store: LmdbStore, entries: readonly LedgerEntry[]) => void): Promise<void> {
    const open = () => new LmdbStore({ directory: directory.path, sync: 'none' });
    const entries = chain(
      times().map((atMs, index) => draftAt(atMs, `default/web-${index % 3}`)),
      GENESIS,
    );
    // A restart in between: the segments are read from the store again.
    for (let at = 0; at < entries.length; at += 500) {
      const store = open();
      await store.write({ puts: emptyPuts(), ledger: entries.slice(at, at + 500) });
      await store.close();
    }
    const store = open();
    try {
      use(store, entries);
    } finally {
      await store.close();
    }
  }

  it('finds every entry of an interval after the clock was set back', async () => {
    await withLedger((store, entries) => {
      for (const sinceMs of [START_MS + HOUR_MS, START_MS + 9_990_000, START_MS + 15_000_000, START_MS + 30_000_000]) {
        const untilMs = sinceMs + 500_000;
        const expected = entries.filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs).map(({ seq }) => seq);
        expect(readLedger(store, { sinceMs, untilMs }).map(({ seq }) => seq)).to.deep.equal(expected);
        expect(readLedger(store, { sinceMs }).length).to.equal(entries.filter(({ atMs }) => atMs >= sinceMs).length);
      }
    });
  });

  it('finds the newest entries of a key up to a time after the clock was set back', async () => {
    await withLedger((store, entries) => {
      for (let untilMs = START_MS; untilMs < START_MS + 25_000_000; untilMs += 777_777) {
        const query = { actor: 'check-state', key: 'default/web-1', untilMs, limit: 3 };
        const found: number[] = [];
        for (
          let beforeSeq: number | undefined = Number.MAX_SAFE_INTEGER;
          beforeSeq !== undefined && found.length < 3;
        ) {
          const slice = store.ledgerSliceOfKey({ ...query, beforeSeq, limit: 3 - found.length });
          found.push(...slice.entries.map(({ seq }) => seq));
          beforeSeq = slice.beforeSeq;
        }
        const expected = entries.filter(({ key, atMs }) => key === 'default/web-1' && atMs <= untilMs);
        expect(found).to.deep.equal(
          expected
            .slice(-3)
            .map(({ seq }) => seq)
            .reverse(),
        );
      }
    });
  });

  it('leaves out no entry, whatever the clock did', () => {
    const step = fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: -1_200, max: 0 }), fc.integer());
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 400 }), fc.integer(), (steps, wantedMs) => {
        let nowMs = START_MS;
        let segments: readonly LedgerSegment[] = singleSegment(-Infinity);
        const all = steps.map((byMs, index) => ({ seq: index + 1, atMs: (nowMs += byMs) }));
        for (const entry of all) ({ segments } = withEntries(segments, [entry]));
        expect(segments.length).to.be.at.most(100);
        const search = new LedgerTimeSearch(segments, all.length + 1, (seq) => all[seq - 1]?.atMs ?? NaN);
        for (const atMs of [START_MS + wantedMs, ...all.map((entry) => entry.atMs)]) {
          const [first, end] = [search.firstSeqSince(atMs), search.endSeqUntil(atMs)];
          expect(all.filter((entry) => entry.seq < first && entry.atMs >= atMs)).to.deep.equal([]);
          expect(all.filter((entry) => entry.seq >= end && entry.atMs <= atMs)).to.deep.equal([]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('reads few entries in a ledger whose clock only went forward', () => {
    const reads: number[] = [];
    const { segments } = withEntries(
      singleSegment(-Infinity),
      Array.from({ length: 100_000 }, (_, index) => ({ seq: index + 1, atMs: index * 1_000 })),
    );
    const search = new LedgerTimeSearch(segments, 100_001, (seq) => (reads.push(seq), (seq - 1) * 1_000));
    expect(search.firstSeqSince(50_000_000)).to.equal(50_000);
    expect(reads.length).to.be.at.most(20);
  });
});
