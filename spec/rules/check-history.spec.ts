import { expect } from 'chai';
import fc from 'fast-check';
import type { HistoryEntry } from '../../src/resources/event.ts';
import {
  entriesOf,
  executedTimes,
  historyOf,
  historyWith,
  lastAlone,
  lastExecuted,
  NO_HISTORY,
  withResult,
} from '../../src/rules/check-history.ts';

const status = fc.nat(3);
const entry = fc.record({ status, executed: fc.nat(2_000_000_000) });
/** The history that gets a result, counted from the newest; the result; and how many entries are dropped. */
const step = fc.record({ from: fc.nat(5), result: entry, dropped: fc.nat(3) });

describe('the history of a check', () => {
  it('is not changed by results that others get, whichever history they are added to', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.array(step, { maxLength: 120 }), (sent, steps) => {
        const none = { history: NO_HISTORY, expected: [] as HistoryEntry[] };
        const all = [none, { history: historyOf(sent), expected: sent }];
        for (const { from, result, dropped } of steps) {
          const before = all.at(-1 - from) ?? none;
          const fewer = before.expected.slice(dropped);
          const history = withResult(before.history, before.expected.length - fewer.length, result);
          all.push({ history, expected: [...fewer, result] });
        }
        for (const { history, expected } of all) {
          expect(entriesOf(history)).to.deep.equal(expected);
          expect(executedTimes(history)).to.deep.equal(expected.map(({ executed }) => executed));
          expect(lastExecuted(history)).to.equal(expected.at(-1)?.executed ?? 0);
          expect(entriesOf(lastAlone(history))).to.deep.equal(expected.slice(-1));
        }
      }),
    );
  });

  it('has a list of at most 42 times when it began empty, however many results it gets', () => {
    let history = NO_HISTORY;
    for (let executed = 0; executed < 1_000; executed += 1) {
      history = withResult(history, history.statuses.length < 21 ? 0 : 1, { status: 0, executed });
      expect(history.times).to.have.property('length').that.is.at.most(42);
    }
    expect(executedTimes(history)).to.deep.equal(Array.from({ length: 21 }, (_, index) => 979 + index));
  });

  it('has the statuses and times that it is made with', () => {
    expect(entriesOf(historyWith([0, 2], [10, 20]))).to.deep.equal([
      { status: 0, executed: 10 },
      { status: 2, executed: 20 },
    ]);
  });
});
