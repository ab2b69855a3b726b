import { expect } from 'chai';
import fc from 'fast-check';
import { historyWith } from '../../src/rules/check-history.ts';
import { incidentChange, type IncidentChange, incidentTimes, isOpen } from '../../src/rules/incident.ts';
import { mergeCheckState, NO_PREVIOUS_STATE } from '../../src/rules/check-state.ts';

const historyOf = (statuses: number[]) =>
  historyWith(
    statuses,
    statuses.map((_, index) => 100 + index),
  );

type Name = 'passing' | 'failing' | 'flapping';

describe('the incident of a check', () => {
  const cases: [before: Name | undefined, statuses: number[], after: Name, change: IncidentChange][] = [
    [undefined, [0], 'passing', 'unchanged'],
    [undefined, [2], 'failing', 'opened'],
    [undefined, [2, 2], 'failing', 'unknown'],
    [undefined, [2, 0], 'passing', 'unchanged'],
    ['passing', [0, 0], 'passing', 'unchanged'],
    ['passing', [0, 1], 'failing', 'opened'],
    ['failing', [1, 1], 'failing', 'unchanged'],
    ['failing', [1, 2], 'failing', 'continued'],
    ['failing', [2, 0], 'passing', 'resolved'],
    ['failing', [1, 0], 'flapping', 'continued'],
    ['passing', [0, 0], 'flapping', 'opened'],
    ['flapping', [0, 0], 'flapping', 'unchanged'],
    ['flapping', [0, 1], 'flapping', 'continued'],
    ['flapping', [0, 1], 'failing', 'continued'],
    ['flapping', [0, 0], 'passing', 'resolved'],
  ];
  for (const [before, statuses, after, change] of cases) {
    it(`is ${change} when the check is ${before ?? 'new'}, has ${statuses.join(', ')} and is ${after}`, () => {
      const previous = before === undefined ? undefined : { state: before };
      expect(incidentChange(previous, { history: historyOf(statuses), state: after })).to.equal(change);
    });
  }

  it('exists exactly while the event is open, whatever the results and the thresholds are', () => {
    const results = fc.array(fc.nat(3), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(results, fc.nat(30), (statuses, low) => {
        let state: ReturnType<typeof mergeCheckState> | undefined;
        let exists = false;
        for (const [executed, status] of statuses.entries()) {
          const result = { status, executed, lowFlapThreshold: low, highFlapThreshold: low + 10 };
          const merged = mergeCheckState(state ?? NO_PREVIOUS_STATE, result);
          const change = incidentChange(state, merged);
          if (change === 'opened') expect(exists).to.equal(false);
          if (change === 'continued' || change === 'resolved') expect(exists).to.equal(true);
          if (change !== 'unchanged') exists = change !== 'resolved';
          expect(exists).to.equal(isOpen(status, merged.state));
          state = merged;
        }
      }),
    );
  });

  it('has times from the history when it began before it was known', () => {
    expect(incidentTimes(historyOf([0, 1, 2, 2]))).to.deep.equal({ openedAtS: 101, lastStateChangeS: 102 });
    expect(incidentTimes(historyOf([2]))).to.deep.equal({ openedAtS: 100, lastStateChangeS: 100 });
    expect(incidentTimes(historyOf([1, 0, 0]))).to.deep.equal({ openedAtS: 100, lastStateChangeS: 101 });
  });
});
