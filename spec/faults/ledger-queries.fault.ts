import { expect } from 'chai';
import type { RouteRequest } from '../../src/http/request/route.ts';
import { ledgerRoutes } from '../../src/http/routes/ledger.ts';
import { emptyPuts } from '../../src/store/commit/decision.ts';
import { chain, type LedgerDraft } from '../../src/store/ledger/ledger.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { perSuite } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ENTRIES = 300_000;
const BATCH = 5_000;
const AT_ONCE = 5;
/** Reading all entries in one turn takes more than two seconds. */
const MAX_TURN_MS = 250;

const ACTORS = ['agent', 'check-state', 'check-ttl', 'checks', 'connection', 'entity', 'silence'] as const;

const draftOf = (seq: number): LedgerDraft => ({
  atMs: seq,
  actor: seq % 30_000 === 0 ? 'quarantine' : (ACTORS[seq % ACTORS.length] ?? 'entity'),
  key: `default/web-${seq % 20_000}`,
  from: 'registered',
  event: 'deadline.reached',
  to: 'warning',
  cause: { deadlineAtMs: seq },
  guards: [{ name: 'deadlineMoved', passed: false, inputs: { deadlineAtMs: seq, reachedAtMs: seq } }],
  details: { status: 1, occurrences: 3 },
  configRevision: 1,
});

describe(`five queries at once of a ledger of ${ENTRIES} entries`, function () {
  this.timeout(180_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const store = perSuite(
    async () => {
      const opened = new LmdbStore({ directory: directory.path, sync: 'none' });
      for (let at = 0; at < ENTRIES; at += BATCH) {
        const drafts = Array.from({ length: BATCH }, (_, index) => draftOf(at + index + 1));
        await opened.write({ puts: emptyPuts(), ledger: chain(drafts, opened.ledgerHead()) });
      }
      return opened;
    },
    (opened) => opened.close(),
  );

  async function get(query: string): Promise<number> {
    const [route] = ledgerRoutes({ ledger: (filter) => store.ledgerSlice(filter) });
    const request = { query: new URLSearchParams(query), isDisconnected: () => false };
    const answer = await route?.handle(request as RouteRequest);
    return (JSON.parse(answer?.body as string) as { entries: object[] }).entries.length;
  }

  /** Returns the longest turn of the event loop during `run`, ms. */
  async function longestTurn(run: () => Promise<unknown>): Promise<number> {
    let longest = 0;
    let last = performance.now();
    let isOver = false;
    const watch = (): void => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    await run();
    await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    return longest;
  }

  for (const [what, query, found] of [
    ['key only', 'key=default/web-77', ENTRIES / 20_000],
    ['actor only', 'actor=quarantine', ENTRIES / 30_000],
    ['a prefix without a match', 'key_prefix=nothing/', 0],
    ['a user without an entry', 'user=nobody&event=deadline.reached&from=registered&to=warning', 0],
  ] as const) {
    it(`by ${what} does not hold the event loop`, async () => {
      const counts: number[] = [];
      const turnMs = await longestTurn(async () => {
        counts.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => get(query)))));
      });
      expect(counts).to.deep.equal(Array.from({ length: AT_ONCE }, () => found));
      expect(turnMs).to.be.below(MAX_TURN_MS);
    });
  }
});
