import { expect } from 'chai';
import fc from 'fast-check';
import { type CheckHistory, entriesOf, executedTimes, historyWith } from '../../src/rules/check-history.ts';
import {
  type CheckState,
  mergeCheckState,
  NO_PREVIOUS_STATE,
  type PreviousCheckState,
  totalStateChange,
} from '../../src/rules/check-state.ts';

interface Thresholds {
  lowFlapThreshold: number;
  highFlapThreshold: number;
}

const NEVER: Thresholds = { lowFlapThreshold: 0, highFlapThreshold: 0 };

const historyOf = (statuses: readonly number[]): CheckHistory => historyWith(statuses, [...statuses.keys()]);
const digits = (text: string): number[] => Array.from(text, Number);

/** Returns the state after each result. The first result is merged with `previous`. */
function merged(
  statuses: readonly number[],
  thresholds: Thresholds = NEVER,
  previous: PreviousCheckState = NO_PREVIOUS_STATE,
): CheckState[] {
  let state = previous;
  return statuses.map((status, index) => {
    const next = mergeCheckState(state, { status, executed: index + 1, ...thresholds });
    state = next;
    return next;
  });
}

const last = <T>(list: readonly T[]): T => {
  const item = list.at(-1);
  if (item === undefined) throw new Error('the list is empty');
  return item;
};

const statusLists = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 60 });
const thresholdPairs = fc.record({
  lowFlapThreshold: fc.integer({ min: 0, max: 100 }),
  highFlapThreshold: fc.integer({ min: 0, max: 100 }),
});

describe('the total state change of a history', () => {
  const table: [string, number][] = [
    [`${'0'.repeat(20)}1`, 5],
    [`${'0'.repeat(10)}${'1'.repeat(11)}`, 4],
    [`${'0'.repeat(16)}10101`, 28],
    ['000000000002222200022', 16],
    ['001100110011001100110', 50],
    ['000000001010101010101', 68],
    ['000001010101010101010', 82],
    ['010101010101010101010', 98],
    ['012012012012012012012', 98],
    ['0'.repeat(21), 0],
    ['01010101010101010101', 0],
    ['', 0],
  ];
  for (const [history, change] of table) {
    it(`is ${change} for ${history === '' ? 'an empty history' : history}`, () => {
      expect(totalStateChange(historyOf(digits(history)))).to.equal(change);
    });
  }

  it('is an integer from 0 to 98, and 0 only when nothing changed', () => {
    const statuses = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 21, maxLength: 21 });
    fc.assert(
      fc.property(statuses, (list) => {
        const change = totalStateChange(historyOf(list));
        expect(Number.isInteger(change)).to.equal(true);
        expect(change).to.be.within(0, 98);
        expect(change === 0).to.equal(new Set(list).size === 1);
      }),
    );
  });

  it('depends on whether a status changed, not on its value', () => {
    const statuses = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 21, maxLength: 21 });
    fc.assert(
      fc.property(statuses, fc.integer({ min: 1, max: 1_000 }), (list, distance) => {
        const moved = list.map((status) => status * distance + distance);
        expect(totalStateChange(historyOf(moved))).to.equal(totalStateChange(historyOf(list)));
      }),
    );
  });
});

describe('the state of a check', () => {
  it('case 37: has one history entry, one occurrence and no last success after a first result that fails', () => {
    const [first] = merged([1]);
    expect(first).to.deep.equal({
      history: historyWith([1], [1]),
      occurrences: 1,
      occurrencesWatermark: 1,
      state: 'failing',
      totalStateChange: 0,
      lastOk: 0,
      silenced: [],
    });
  });

  it('has the first result as its last success if that one passes', () => {
    expect(merged([0])[0]).to.include({ state: 'passing', lastOk: 1, occurrences: 1, occurrencesWatermark: 1 });
  });

  const counted: [number[], number[], number[]][] = [
    [
      [0, 0, 0, 1, 1, 2, 2, 2, 0, 0, 0, 0, 2, 0],
      [1, 2, 3, 1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 1],
      [1, 2, 3, 1, 2, 2, 2, 3, 3, 3, 3, 4, 1, 1],
    ],
    [
      [0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 2],
      [1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 1],
      [1, 2, 1, 2, 3, 3, 3, 3, 4, 4, 1],
    ],
  ];
  for (const [statuses, occurrences, watermarks] of counted) {
    it(`has the occurrences ${occurrences.join()} and the watermarks ${watermarks.join()} after ${statuses.join()}`, () => {
      const states = merged(statuses);
      expect(states.map((state) => state.occurrences)).to.deep.equal(occurrences);
      expect(states.map((state) => state.occurrencesWatermark)).to.deep.equal(watermarks);
    });
  }

  it('case 39: contains the last 21 results', () => {
    const { history } = last(merged(Array.from({ length: 22 }, () => 0)));
    expect(executedTimes(history)).to.deep.equal(Array.from({ length: 21 }, (_, index) => index + 2));
  });

  it('loses one entry of a longer history that came with a first event, and weighs all entries', () => {
    const sent = { ...NO_PREVIOUS_STATE, history: historyOf(digits('0'.repeat(25))) };
    const { history, totalStateChange: change } = last(merged([1], NEVER, sent));
    expect(entriesOf(history)).to.deep.equal([...entriesOf(sent.history).slice(1), { status: 1, executed: 1 }]);
    expect(change).to.equal(6);
  });

  it('becomes flapping at the high threshold, stays flapping above the low one and ends at the low one', () => {
    const thresholds = { lowFlapThreshold: 20, highFlapThreshold: 60 };
    const states = merged([...digits('010101010101010101010'), ...digits('0'.repeat(20))], thresholds);
    const began = states.findIndex(({ state }) => state === 'flapping');
    expect(states[began]?.totalStateChange).to.equal(98);
    for (const { state, totalStateChange: change } of states.slice(began)) {
      expect(state, `at ${change}`).to.equal(change > 20 ? 'flapping' : 'passing');
    }
    expect(states.some(({ totalStateChange: change }) => change > 20 && change < 60)).to.equal(true);
    expect(last(states).state).to.equal('passing');
  });

  it('does not become flapping between the thresholds', () => {
    const thresholds = { lowFlapThreshold: 20, highFlapThreshold: 60 };
    const { state, totalStateChange: change } = last(merged(digits('001100110011001100110'), thresholds));
    expect([state, change]).to.deep.equal(['passing', 50]);
  });

  it('keeps its last success while it flaps', () => {
    const states = merged(digits('010101010101010101010'), { lowFlapThreshold: 20, highFlapThreshold: 60 });
    expect(last(states)).to.include({ state: 'flapping', lastOk: 19 });
  });

  it('is never flapping with a threshold of 0', () => {
    fc.assert(
      fc.property(statusLists, fc.integer({ min: 0, max: 100 }), fc.boolean(), (statuses, other, lowIsZero) => {
        const thresholds = { lowFlapThreshold: lowIsZero ? 0 : other, highFlapThreshold: lowIsZero ? other : 0 };
        for (const { state } of merged(statuses, thresholds)) expect(state).to.not.equal('flapping');
      }),
    );
  });

  it('is passing or failing by its status unless it flaps, and contains the last success', () => {
    fc.assert(
      fc.property(statusLists, thresholdPairs, (statuses, thresholds) => {
        let lastOk = 0;
        for (const [index, merge] of merged(statuses, thresholds).entries()) {
          if (merge.state !== 'flapping') expect(merge.state).to.equal(statuses[index] === 0 ? 'passing' : 'failing');
          if (merge.state === 'passing') lastOk = index + 1;
          expect(merge.lastOk).to.equal(lastOk);
        }
      }),
    );
  });

  it('counts the run of equal results, however long, and never exceeds its watermark', () => {
    fc.assert(
      fc.property(statusLists, (statuses) => {
        let run = 0;
        for (const [index, { occurrences, occurrencesWatermark, history }] of merged(statuses).entries()) {
          run = index > 0 && statuses[index] === statuses[index - 1] ? run + 1 : 1;
          expect(occurrences).to.equal(run);
          expect(occurrencesWatermark).to.be.at.least(occurrences);
          expect(history.statuses).to.deep.equal(statuses.slice(0, index + 1).slice(-21));
        }
      }),
    );
  });

  it('is computed without changing the previous state', () => {
    const previous = { ...NO_PREVIOUS_STATE, history: historyOf(digits('0'.repeat(21))) };
    const before = { ...previous, history: entriesOf(previous.history) };
    mergeCheckState(previous, { status: 1, executed: 9, ...NEVER });
    expect({ ...previous, history: entriesOf(previous.history) }).to.deep.equal(before);
  });
});
