import { expect } from 'chai';
import fc from 'fast-check';
import { addressOf, joined, type LedgerEntry, Replay } from '../../web/src/machines/replay.ts';

const ENTITY = { machine: 'entity', key: 'default/web-01' };
const TTL = { machine: 'check-ttl', key: 'default/web-01/disk' };

function entry(seq: number, fields: Partial<LedgerEntry>): LedgerEntry {
  const address = {
    actor: ENTITY.machine,
    key: ENTITY.key,
    from: 'registered',
    event: 'deadline.reached',
    to: 'warning',
  };
  const hashes = { configRevision: 1, prevHash: '', hash: '' };
  return { seq, atMs: seq * 1_000, cause: { deadlineAtMs: 0 }, guards: [], ...address, ...hashes, ...fields };
}

/** An agent dies: its TTL expires, its entity goes to warning and critical, and it comes back. */
const OUTAGE = [
  entry(10, {}),
  entry(12, { actor: 'check-ttl', key: TTL.key, to: null }),
  entry(20, { from: 'warning', to: 'critical' }),
  entry(95, { from: 'critical', event: 'keepalive.received', to: 'registered' }),
];

describe('a replay of an incident', () => {
  const replay = new Replay(OUTAGE, [ENTITY, TTL]);
  const valuesAt = (step: number) => replay.at(step).map(({ value }) => value);

  it('begins with the states before the first entries', () => {
    expect(valuesAt(0)).to.deep.equal(['registered', 'registered']);
    expect(replay.entryAt(0)).to.equal(undefined);
  });

  it('shows after each step the state that its entry led to', () => {
    expect([1, 2, 3, 4].map(valuesAt)).to.deep.equal([
      ['warning', 'registered'],
      ['warning', null],
      ['critical', null],
      ['registered', null],
    ]);
    expect(replay.at(3)[0]?.last).to.equal(OUTAGE[2]);
  });

  it('does not know the state of an actor without an entry', () => {
    expect(new Replay(OUTAGE, [{ machine: 'entity', key: 'default/web-02' }]).at(4)[0]?.value).to.equal(undefined);
  });

  it('waits as long as in the past at its speed, but neither long nor too short to see', () => {
    expect(replay.waitMsAfter(1, 1)).to.equal(1_600);
    expect(replay.waitMsAfter(2, 10)).to.equal(800);
    expect(replay.waitMsAfter(1, 600)).to.equal(250);
    expect(replay.waitMsAfter(0, 1)).to.equal(300);
  });

  it('has a step for each time', () => {
    expect([0, 10_000, 15_000, 95_000].map((atMs) => replay.stepAt(atMs))).to.deep.equal([0, 1, 2, 4]);
    expect([0, 1, 4].map((step) => replay.timeMsAt(step))).to.deep.equal([10_000, 10_000, 95_000]);
  });

  it('can jump: each step is the same whatever was shown before', () => {
    const step = fc.integer({ min: 0, max: OUTAGE.length });
    const linear = Array.from({ length: OUTAGE.length + 1 }, (_, index) => valuesAt(index));
    fc.assert(
      fc.property(fc.array(step), (jumps) => {
        for (const jump of jumps) expect(valuesAt(jump)).to.deep.equal(linear[jump]);
      }),
    );
  });

  it('keeps the chain of states of random transitions', () => {
    const states = ['registered', 'warning', 'critical'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...states), { minLength: 2 }), (path) => {
        const entries = path.slice(1).map((to, index) => entry(index + 1, { from: path[index] ?? null, to }));
        const random = new Replay(entries, [ENTITY]);
        expect(path.map((_, index) => random.at(index)[0]?.value)).to.deep.equal(path);
      }),
    );
  });
});

describe('the entries of several actors', () => {
  const own = (seqs: readonly number[]) => seqs.map((seq) => entry(seq, {}));
  const seqsOf = ({ entries }: { entries: LedgerEntry[] }) => entries.map(({ seq }) => seq);

  it('are in the order of the ledger', () => {
    const read = joined([
      { entries: own([1, 4]), readUpTo: Infinity },
      { entries: own([2, 3]), readUpTo: Infinity },
    ]);
    expect(seqsOf(read)).to.deep.equal([1, 2, 3, 4]);
    expect(read.untilS).to.equal(undefined);
  });

  it('end where one of the actors was not read further', () => {
    const read = joined([
      { entries: own([1, 4, 9]), readUpTo: Infinity },
      { entries: own([2, 3]), readUpTo: 5 },
    ]);
    expect(seqsOf(read)).to.deep.equal([1, 2, 3, 4]);
    expect(read.untilS).to.equal(4);
    expect(joined([{ entries: [], readUpTo: 50 }])).to.deep.equal({ entries: [], untilS: 0 });
  });
});

describe('the address of an actor', () => {
  it('is its machine and its key, which may contain colons', () => {
    expect(addressOf('silence:default/entity:web-01:disk')).to.deep.equal({
      machine: 'silence',
      key: 'default/entity:web-01:disk',
    });
  });
});
