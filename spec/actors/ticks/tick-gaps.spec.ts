import { expect } from 'chai';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { TickBook } from '../../../src/actors/core/tick-book.ts';
import { filled } from '../../../src/actors/ticks/tick-gaps.ts';
import type { TickRecord } from '../../../src/store/records/records.ts';
import { ticksOf } from '../../support/schedule-oracle.ts';

const RAN = { outcome: 'ran', everyMs: 0 } as const;
const OUTAGE = { outcome: 'lost', reason: 'the backend was down', fromMs: 0, toMs: 10_000, everyMs: 0 } as const;

/** The ticks that have an outcome when those until `untilMs` are filled in, in the order of their times. */
function filledTicks(record: Pick<TickRecord, 'next' | 'streaks'>, untilMs: number): number[] {
  const reader = { get: () => ({ history: [], streaks: [OUTAGE] }), ticks: new TickBook() };
  const streaks = filled(reader as unknown as DecisionContext, 'default/one', { history: [], ...record }, { untilMs });
  const recorded = streaks.map(({ fromMs, toMs, everyMs, outcome }) => ({
    outcome,
    from: fromMs / 1_000,
    to: toMs / 1_000,
    every: everyMs / 1_000,
    count: everyMs === 0 ? 1 : (toMs - fromMs) / everyMs + 1,
  }));
  return [...ticksOf(recorded).keys()].sort((one, other) => one - other);
}

describe('the ticks of an outage', () => {
  const next = { atMs: 1_000, interval: 1, cron: undefined };

  it('are filled in until its end', () => {
    expect(filledTicks({ next, streaks: [] }, 4_000)).to.deep.equal([1_000, 2_000, 3_000]);
  });

  it('leave out a later tick that has an outcome already', () => {
    const streaks = [{ ...RAN, fromMs: 2_000, toMs: 2_000 }];
    expect(filledTicks({ next, streaks }, 4_000)).to.deep.equal([1_000, 2_000, 3_000]);
  });
});
