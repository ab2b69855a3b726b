import { expect } from 'chai';
import fc from 'fast-check';
import { createMachine, initialTransition, transition } from 'xstate';
import { CHECK_STATE_CHART } from '../../src/rules/check-state-chart.ts';
import { mergeCheckState, NO_PREVIOUS_STATE, type PreviousCheckState } from '../../src/rules/check-state.ts';
import { SILENCE_CHART } from '../../src/rules/silence-chart.ts';
import { isOver, nextChangeAtMs, stateAt } from '../../src/rules/silencing.ts';

describe('the chart of check states', () => {
  it('has the state that mergeCheckState gives, after any results', () => {
    const seen = new Set<string>();
    const results = fc.array(fc.tuple(fc.constantFrom(0, 0, 1, 2), fc.nat({ max: 3 })), { maxLength: 80 });
    const thresholds = fc.constantFrom([0, 0], [5, 20], [20, 20], [0, 10]);
    fc.assert(
      fc.property(results, thresholds, (runs, [low = 0, high = 0]) => {
        let change = 0;
        let status = 0;
        const on = low > 0 && high > 0;
        const machine = createMachine(CHECK_STATE_CHART as never).provide({
          guards: { flaps: () => on && change >= high, stillFlaps: () => on && change > low, isOk: () => status === 0 },
        });
        let [chart] = initialTransition(machine);
        let previous: PreviousCheckState = NO_PREVIOUS_STATE;
        for (const [next, more] of runs) {
          for (let n = 0; n <= more; n += 1) {
            const result = { status: next, executed: 1, lowFlapThreshold: low, highFlapThreshold: high };
            const merged = mergeCheckState(previous, result);
            [change, status, previous] = [merged.totalStateChange, next, merged];
            [chart] = transition(machine, chart, { type: 'result.received' });
            expect(chart.value).to.equal(merged.state);
            seen.add(merged.state);
          }
        }
      }),
      // The seed is fixed because the last expectation does not hold for each random choice.
      { seed: 11 },
    );
    expect([...seen].toSorted()).to.deep.equal(['failing', 'flapping', 'passing']);
  });
});

describe('the chart of silences', () => {
  it('has the state that stateAt and isOver give, at any time and after any change', () => {
    const seen = new Set<string>();
    const change = fc.record({ begin: fc.nat({ max: 50 }), lifeS: fc.nat({ max: 20 }), afterS: fc.nat({ max: 20 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        let nowS = 0;
        let times = { begin: 0, expire_at: 0 };
        const machine = createMachine(SILENCE_CHART as never).provide({
          guards: { hasBegun: () => stateAt(times, nowS) === 'active' },
        });
        let [chart] = initialTransition(machine);
        for (const [index, { begin, lifeS, afterS }] of changes.entries()) {
          times = { begin, expire_at: lifeS === 0 ? 0 : Math.max(begin, nowS) + lifeS };
          [chart] = transition(machine, chart, { type: index === 0 ? 'silence.created' : 'silence.updated' });
          let state = stateAt(times, nowS);
          expect(chart.value).to.equal(state);
          for (const untilS = nowS + afterS; nowS < untilS;) {
            const changeAtMs = nextChangeAtMs({ ...times, state }) ?? Infinity;
            nowS = Math.min(untilS, Math.max(nowS, Math.ceil(changeAtMs / 1_000)));
            if (isOver(times, nowS)) {
              [chart] = transition(machine, chart, { type: 'expiry.reached' });
              expect([chart.value, chart.status]).to.deep.equal(['expired', 'done']);
              seen.add('expired');
              return;
            }
            if (state === 'pending' && stateAt(times, nowS) === 'active') {
              [chart] = transition(machine, chart, { type: 'begin.reached' });
              state = 'active';
            } else if (changeAtMs > untilS * 1_000) nowS = untilS;
            expect(chart.value).to.equal(stateAt(times, nowS));
            seen.add(state);
          }
        }
      }),
      // The seed is fixed because the last expectation does not hold for each random choice.
      { seed: 11 },
    );
    expect([...seen].toSorted()).to.deep.equal(['active', 'expired', 'pending']);
  });

  it('ends as expired with its time or its problem, and as deleted otherwise', () => {
    for (const [event, state] of [
      ['expiry.reached', 'expired'],
      ['check.resolved', 'expired'],
      ['silence.deleted', 'deleted'],
      ['entity.deleted', 'deleted'],
      ['entity.deregistered', 'deleted'],
    ] as const) {
      expect(SILENCE_CHART.states.active.on[event].target).to.equal(state);
    }
  });
});
