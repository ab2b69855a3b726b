import { expect } from 'chai';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { chain, GENESIS, type LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import type { LedgerQuery } from '../../../src/store/ledger/ledger-query.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { perSuite } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ENTRIES = 5_000;
/** Two of the entries have this actor and this key. */
const RARE = [7, 4_900];

const ACTORS = ['entity', 'check-ttl', 'check-state'] as const;

const draftOf = (seq: number): LedgerDraft => ({
  atMs: seq * 1_000,
  actor: RARE.includes(seq) ? 'quarantine' : (ACTORS[seq % ACTORS.length] ?? 'entity'),
  key: RARE.includes(seq) ? 'default/rare' : `default/web-${seq % 5}`,
  from: seq % 2 === 0 ? null : 'passing',
  event: seq % 4 === 0 ? 'even' : 'odd',
  to: 'failing',
  cause: seq % 10 === 0 ? { user: 'ann' } : { deadlineAtMs: seq },
  guards: [],
  configRevision: 0,
});

describe('a query of the ledger', () => {
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const store = perSuite(
    async () => {
      const opened = new LmdbStore({ directory: directory.path, sync: 'none' });
      const drafts = Array.from({ length: ENTRIES }, (_, index) => draftOf(index + 1));
      const entries = chain(drafts, GENESIS);
      for (let at = 0; at < ENTRIES; at += 500) {
        await opened.write({ puts: emptyPuts(), ledger: entries.slice(at, at + 500) });
      }
      return opened;
    },
    (opened) => opened.close(),
  );

  const slice = (query: Partial<LedgerQuery>) => {
    const { entries, afterSeq } = store.ledgerSlice({ limit: 1_000, ...query });
    return { seqs: entries.map(({ seq }) => seq), afterSeq };
  };

  it('by key alone finds all entries in one slice, without the others', () => {
    expect(slice({ key: 'default/rare' })).to.deep.equal({ seqs: RARE, afterSeq: undefined });
  });

  it('by actor alone finds all entries in one slice, from the blocks that contain them', () => {
    expect(slice({ actor: 'quarantine' })).to.deep.equal({ seqs: RARE, afterSeq: undefined });
  });

  it('by the prefix of a key reads a bounded number of entries and continues after the last one', () => {
    expect(slice({ keyPrefix: 'default/rare' })).to.deep.equal({ seqs: [7], afterSeq: 200 });
    expect(slice({ keyPrefix: 'default/rare', afterSeq: 200 })).to.deep.equal({ seqs: [], afterSeq: 400 });
  });

  it('ends a slice after long entries before it has read two hundred', async () => {
    const own = await temporaryDirectory();
    const long = new LmdbStore({ directory: own.path, sync: 'none' });
    try {
      const details = { list: Array.from({ length: 100 }, () => 'x'.repeat(1_000)) };
      const drafts = Array.from({ length: 20 }, (_, index) => ({ ...draftOf(index + 1), details }));
      await long.write({ puts: emptyPuts(), ledger: chain(drafts, GENESIS) });
      expect(long.ledgerSlice({ event: 'none', limit: 1 })).to.deep.equal({ entries: [], afterSeq: 6 });
    } finally {
      await long.close();
      await own.remove();
    }
  });

  const conditions: [string, Partial<LedgerQuery>, (draft: LedgerDraft) => boolean][] = [
    ['key of several actors', { key: 'default/web-1' }, ({ key }) => key === 'default/web-1'],
    ['actor', { actor: 'check-state' }, ({ actor }) => actor === 'check-state'],
    [
      'actor and key',
      { actor: 'check-state', key: 'default/web-1' },
      (d) => d.actor === 'check-state' && d.key.endsWith('-1'),
    ],
    ['event and user', { event: 'even', user: 'ann' }, (d) => d.event === 'even' && 'user' in d.cause],
    ['state before it', { from: null }, ({ from }) => from === null],
    ['state after it', { to: 'passing' }, () => false],
    [
      'key, event and time',
      { key: 'default/web-3', event: 'odd', sinceMs: 1_000_000, untilMs: 4_000_000 },
      (d) => d.key === 'default/web-3' && d.event === 'odd' && d.atMs >= 1_000_000 && d.atMs <= 4_000_000,
    ],
  ];
  for (const [what, query, isMatch] of conditions) {
    it(`finds exactly the matching entries, in order, by the ${what}`, () => {
      const all = Array.from({ length: ENTRIES }, (_, index) => index + 1);
      const expected = all.filter((seq) => isMatch(draftOf(seq)));
      expect(readLedger(store, query).map(({ seq }) => seq)).to.deep.equal(expected);
    });
  }

  it('does not depend on the number of batches: an actor has one index key for each block of 64 numbers', async () => {
    await store.close();
    const root = openEnvironment({ directory: directory.path, sync: 'none' });
    try {
      const keys = [...textTable(root, 'ledgerByActor').getKeys()].filter((key) => key.startsWith('check-ttl#'));
      expect(keys).to.have.lengthOf(Math.ceil((ENTRIES + 1) / 64));
    } finally {
      await root.close();
    }
  });
});
