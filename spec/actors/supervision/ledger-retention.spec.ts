import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decider } from '../../../src/actors/core/decider.ts';
import { LedgerRetention } from '../../../src/actors/supervision/ledger-retention.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { chain, GENESIS, type LedgerDraft, type LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { LEDGER_CUT_KEY } from '../../../src/store/ledger/ledger-cut.ts';
import { ExportFailed, exportLedger, verifyExport } from '../../../src/store/maintenance/ledger-export.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { verifyLedgerOf } from '../../../src/store/maintenance/stored-ledger.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ENTRIES = 20_000;
const ENTRIES_PER_WRITE = 2_000;
const HOUR_MS = 3_600_000;
/** One entry a minute. */
const ENTRY_MS = 60_000;
const START_MS = 1_700_000_000_000;
const STEP_MS = 25;

const ACTORS = ['entity', 'check-state', 'connection'] as const;

const draftOf = (index: number): LedgerDraft => ({
  atMs: START_MS + index * ENTRY_MS,
  actor: ACTORS[index % ACTORS.length] ?? 'entity',
  key: `default/web-${index % 50}`,
  from: 'passing',
  event: 'result.received',
  to: 'failing',
  cause: { eventId: String(index) },
  guards: [],
  configRevision: 0,
});

describe('the retention of the ledger', function () {
  this.timeout(60_000);
  /** A ledger, which every test copies. */
  const source = perSuite(
    async () => {
      const made = await temporaryDirectory();
      const path = join(made.path, 'store');
      const entries = chain(
        Array.from({ length: ENTRIES }, (_, index) => draftOf(index)),
        GENESIS,
      );
      const filled = new LmdbStore({ directory: path, sync: 'none' });
      for (let at = 0; at < ENTRIES; at += ENTRIES_PER_WRITE) {
        await filled.write({ puts: emptyPuts(), ledger: entries.slice(at, at + ENTRIES_PER_WRITE) });
      }
      await filled.close();
      return { path, entries, remove: () => made.remove() };
    },
    (made) => made.remove(),
  );
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let store: LmdbStore;
  let all: readonly LedgerEntry[];
  let clock: ManualClock;
  let retention: LedgerRetention | undefined;

  beforeEach(() => {
    const path = join(directory.path, 'store');
    cpSync(source.path, path, { recursive: true });
    rmSync(join(path, 'lock.mdb'), { force: true });
    store = new LmdbStore({ directory: path, sync: 'none' });
    all = source.entries;
    clock = new ManualClock(START_MS + ENTRIES * ENTRY_MS);
  });

  afterEach(async () => {
    retention?.stop();
    await store.close();
  });

  /** Decides as the backend does: the entry and the mark are one transaction. */
  const decider = {
    decide: (_input: unknown, run: (ctx: unknown) => void) => {
      const puts = emptyPuts();
      const drafts: LedgerDraft[] = [];
      run({
        put: (_table: string, key: string, value: unknown) => puts.meta.set(key, value),
        record: (entry: Partial<LedgerDraft>) =>
          drafts.push({ ...draftOf(0), atMs: clock.nowMs(), cause: { backend: 'retention.due' }, ...entry }),
      });
      return { durable: store.write({ puts, ledger: chain(drafts, store.ledgerHead()) }) };
    },
  } as unknown as Pick<Decider, 'decide'>;

  function start(limits: { ageMs: number; bytes: number }): void {
    retention = new LedgerRetention({ store, decider, clock, log: new RecordedLog(), backendName: 'b', limits });
    retention.start();
  }

  /** Lets the retention work until it waits for its next look at the ledger. No alarm is set while it takes a step. */
  async function worked(): Promise<void> {
    await eventually(
      async () => {
        await clock.advance(STEP_MS);
        return (clock.msToNextAlarm ?? 0) > STEP_MS;
      },
      Boolean,
      { what: 'the end of the cut', withinMs: 20_000 },
    );
  }

  async function verified() {
    const reader = new RawStore({ directory: join(directory.path, 'store'), sync: 'none', readOnly: true });
    try {
      return verifyLedgerOf(reader, true);
    } finally {
      await reader.close();
    }
  }

  it('keeps everything while nothing is too old', async () => {
    start({ ageMs: ENTRIES * ENTRY_MS + HOUR_MS, bytes: 0 });
    for (let step = 0; step < 10; step += 1) await clock.advance(STEP_MS);
    expect(store.ledgerExtent()).to.include({ firstSeq: 1, entries: ENTRIES });
  });

  it('removes what is too old in whole blocks, and the entry of the cut carries the hash of what went', async () => {
    start({ ageMs: 100 * HOUR_MS, bytes: 0 });
    await worked();
    const { firstSeq } = store.ledgerExtent();
    expect(firstSeq).to.be.within(ENTRIES - 6_000 - 64, ENTRIES - 6_000 + 20);
    expect(firstSeq % 64).to.equal(0);
    const [cut] = store.ledgerSlice({ actor: 'ledger', limit: 10 }).entries;
    expect(cut).to.deep.include({ event: 'ledger.cut', key: 'b', cause: { backend: 'retention.due' } });
    expect(cut?.details).to.deep.include({
      throughSeq: firstSeq - 1,
      hash: all[firstSeq - 2]?.hash,
      firstSeq: 1,
      entries: firstSeq - 1,
      firstAtMs: START_MS,
      reason: 'age',
    });
    expect(await verified()).to.deep.equal({
      ok: true,
      head: store.ledgerHead(),
      base: { seq: firstSeq - 1, hash: all[firstSeq - 2]?.hash },
    });
    expect(store.ledgerSlice({ actor: 'entity', key: 'default/web-0', limit: 5 }).entries[0]?.seq).to.be.at.least(
      firstSeq,
    );
    expect(store.ledgerSlice({ sinceMs: START_MS, limit: 1 }).entries[0]?.seq).to.equal(firstSeq);
  });

  it('removes the oldest when the ledger is too large, and leaves room', async () => {
    const { bytes } = store.ledgerExtent();
    start({ ageMs: 0, bytes: bytes / 2 });
    await worked();
    expect(store.ledgerExtent().bytes).to.be.below(bytes / 2);
    expect(store.ledgerExtent().entries).to.be.above(ENTRIES / 3);
    expect(store.ledgerSlice({ actor: 'ledger', limit: 10 }).entries[0]?.details).to.include({ reason: 'size' });
    expect(await verified()).to.have.property('ok', true);
  });

  it('keeps the newest entries when the clock was set forward by years', async () => {
    await clock.advance(400 * 24 * HOUR_MS);
    start({ ageMs: 24 * HOUR_MS, bytes: 0 });
    await worked();
    expect(store.ledgerExtent().entries).to.be.within(1_024, 1_200);
    expect(await verified()).to.have.property('ok', true);
  });

  it('stays valid after each step of a cut, and continues after an interruption at any of them', async () => {
    start({ ageMs: 100 * HOUR_MS, bytes: 0 });
    const sizes = new Set<number>();
    for (let step = 0; step < 300; step += 1) {
      await clock.advance(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
      const before = sizes.size;
      sizes.add(store.ledgerExtent().entries);
      if (sizes.size !== before) expect(await verified(), `step ${step}`).to.include({ ok: true });
      if (step % 30 !== 0) continue;
      retention?.stop();
      start({ ageMs: 100 * HOUR_MS, bytes: 0 });
    }
    await worked();
    expect(sizes.size).to.be.above(4);
    expect(store.ledgerExtent().firstSeq).to.equal((store.get('meta', LEDGER_CUT_KEY) as { seq: number }).seq + 1);
  });

  describe('as verification sees it', () => {
    const entriesOf = () => [...store.ledgerEntries()];

    beforeEach(async () => {
      start({ ageMs: 100 * HOUR_MS, bytes: 0 });
      await worked();
    });

    it('distinguishes a cut from entries that were removed by other means', () => {
      const kept = entriesOf();
      const more = kept.slice(64);
      expect(verify(more)).to.deep.include({ ok: false, seq: 1 }).and.have.property('reason').contain('no entry says');
      const without = kept.filter(({ entry }) => !(entry instanceof Error) && entry.event !== 'ledger.cut');
      expect(verify(without)).to.have.property('ok', false);
    });

    it('rejects an entry of a cut with another hash', () => {
      const firstSeq = store.ledgerExtent().firstSeq;
      const drafts: LedgerDraft = {
        ...draftOf(0),
        actor: 'ledger',
        event: 'ledger.cut',
        details: { throughSeq: firstSeq - 1, hash: 'f'.repeat(64) },
      };
      const forged = chain([drafts], store.ledgerHead()).map((entry) => ({ seq: entry.seq, entry }));
      expect(verify([...entriesOf(), ...forged])).to.have.property('ok', false);
    });

    it('compares an anchor with the last entry that was cut, and refers to the export for older ones', () => {
      const { firstSeq } = store.ledgerExtent();
      const anchorAt = (seq: number) => ({ seq, hash: all[seq - 1]?.hash ?? '' });
      expect(verify(entriesOf(), { anchor: anchorAt(firstSeq) })).to.have.property('ok', true);
      expect(verify(entriesOf(), { anchor: anchorAt(firstSeq - 1) })).to.have.property('ok', true);
      const wrong = { seq: firstSeq - 1, hash: '0'.repeat(64) };
      expect(verify(entriesOf(), { anchor: wrong })).to.have.property('ok', false);
      expect(verify(entriesOf(), { anchor: anchorAt(5) }))
        .to.have.property('reason')
        .that.includes('verify the export');
    });

    it('finds any single change of what is left', () => {
      const kept = entriesOf();
      fc.assert(
        fc.property(fc.nat(kept.length - 1), fc.constantFrom('key', 'event', 'hash', 'prevHash'), (index, member) => {
          const changed = kept.map((item, at) =>
            at === index && !(item.entry instanceof Error)
              ? { ...item, entry: { ...item.entry, [member]: 'changed' } }
              : item,
          );
          return !verify(changed).ok;
        }),
        { numRuns: 10 },
      );
    });
  });

  it('has a cut that verifies an export of the removed entries', async () => {
    const path = join(directory.path, 'ledger.jsonl');
    const signal = new AbortController().signal;
    const exported = await exportLedger(store.ledgerEntries(), { path, after: 0, signal });
    expect(exported).to.deep.equal({ firstSeq: 1, entries: ENTRIES, head: store.ledgerHead() });
    start({ ageMs: 100 * HOUR_MS, bytes: 0 });
    await worked();
    const cut = store.get('meta', LEDGER_CUT_KEY) as { seq: number; hash: string };
    expect(verifyExport(path, cut)).to.have.property('ok', true);
    expect(verifyExport(path, { ...cut, hash: '0'.repeat(64) })).to.have.property('ok', false);
    const next = join(directory.path, 'next.jsonl');
    const { firstSeq } = await exportLedger(store.ledgerEntries(), { path: next, after: ENTRIES - 10, signal });
    expect(firstSeq).to.equal(ENTRIES - 9);
    expect(verifyExport(next, undefined)).to.have.property('ok', true);
  });

  it('is exported after its last entry as an empty file, and not at all after an entry that it does not have', async () => {
    const signal = new AbortController().signal;
    const exportAfter = (name: string, after: number) =>
      exportLedger(store.ledgerEntries(), { path: join(directory.path, name), after, signal });
    expect(await exportAfter('end.jsonl', ENTRIES)).to.include({ firstSeq: undefined, entries: 0 });
    const error = await exportAfter('beyond.jsonl', ENTRIES + 1).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ExportFailed);
    expect(String(error)).to.include(`the ledger ends at entry ${ENTRIES}, before entry ${ENTRIES + 1} of --after`);
    expect(readdirSync(directory.path).filter((name) => name.startsWith('beyond'))).to.deep.equal([]);
  });
});
