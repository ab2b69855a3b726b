import { expect } from 'chai';
import { boundedDetails } from '../../../src/store/ledger/bounded-details.ts';
import { chain, GENESIS, type LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';

const LONG = 'x'.repeat(1_001);
const CUT = `${'x'.repeat(1_000)}...`;

const draft: LedgerDraft = {
  atMs: 1,
  actor: 'checks',
  key: 'default/disk',
  from: null,
  event: 'x',
  to: null,
  cause: { restore: true },
  guards: [{ name: 'long', passed: true, inputs: { text: LONG, limit: 5 } }],
  details: { reason: LONG, subscriptions: Array.from({ length: 103 }, (_, n) => `s${n}`), nested: { list: [LONG] } },
  configRevision: 0,
};

describe('the details of a ledger entry', () => {
  const unchanged: [string, unknown][] = [
    ['a number', 5],
    ['null', null],
    ['a text of 1,000 characters', 'x'.repeat(1_000)],
    ['a list of 100', Array.from({ length: 100 }, (_, n) => n)],
    ['members', { a: 1, b: [true, 'c'], d: { e: null } }],
  ];
  for (const [what, value] of unchanged) {
    it(`are stored unchanged: ${what}`, () => {
      expect(boundedDetails(value)).to.deep.equal(value);
    });
  }

  it('are cut with a mark, and the ledger still verifies', () => {
    const entries = chain([draft], GENESIS);
    const [{ details, guards } = draft] = entries;
    expect(details?.['reason']).to.equal(CUT);
    expect(details?.['subscriptions'])
      .to.have.lengthOf(101)
      .and.to.satisfy((list: unknown[]) => {
        return list[99] === 's99' && list[100] === '... and 3 more';
      });
    expect(details?.['nested']).to.deep.equal({ list: [CUT] });
    expect(guards).to.deep.equal([{ name: 'long', passed: true, inputs: { text: CUT, limit: 5 } }]);
    const stored = entries.map((entry) => ({
      seq: entry.seq,
      entry: JSON.parse(JSON.stringify(entry)) as typeof entry,
    }));
    expect(verify(stored)).to.have.property('ok', true);
  });

  it('have a bounded length when lists of lists contain long texts', () => {
    const terms = Array.from({ length: 100 }, () => 'x'.repeat(1_000));
    const rules = Array.from({ length: 100 }, () => ({ verbs: terms, resources: terms }));
    const [entry] = chain([{ ...draft, details: { before: { rules }, after: { rules } } }], GENESIS);
    expect(JSON.stringify(entry).length).to.be.within(256 * 1024, 512 * 1024);
    expect(JSON.stringify(entry)).to.match(/\.\.\. and \d+ more/);
  });

  it('are verified too when the cut divides a character', () => {
    const entries = chain([{ ...draft, details: { reason: `${'x'.repeat(999)}😀 and more` } }], GENESIS);
    const stored = entries.map((entry) => ({
      seq: entry.seq,
      entry: JSON.parse(Buffer.from(JSON.stringify(entry)).toString()) as typeof entry,
    }));
    expect(verify(stored)).to.have.property('ok', true);
  });
});
