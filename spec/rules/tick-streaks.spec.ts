import { expect } from 'chai';
import fc from 'fast-check';
import { countOf, covers, tickIssuedAt, type TickStreak, withoutTick, withTick } from '../../src/rules/tick-streaks.ts';
import { ticksInOrder } from '../../src/rules/ticks-in-order.ts';

const RESULTS = [
  { outcome: 'ran' },
  { outcome: 'skipped', reason: 'subdued' },
  { outcome: 'lost', reason: 'the backend was down' },
] as const;
const results = fc.constantFrom(...RESULTS);
const steps = fc.array(fc.record({ afterMs: fc.constantFrom(1, 10_000, 10_000, 10_000, 60_000), result: results }));

function recorded(all: { afterMs: number; result: (typeof RESULTS)[number] }[]) {
  let atMs = 0;
  let streaks: TickStreak[] = [];
  const outcomes: [number, string][] = [];
  for (const { afterMs, result } of all) {
    atMs += afterMs;
    streaks = withTick(streaks, atMs, result);
    outcomes.push([atMs, result.outcome]);
  }
  return { streaks, outcomes };
}

const listed = (streaks: readonly TickStreak[], sinceMs = 0, untilMs = Infinity): [number, string][] =>
  [...ticksInOrder(streaks, sinceMs, untilMs)].map(({ atMs, streak }) => [atMs, streak.outcome]);

describe('the streaks of ticks', () => {
  it('have exactly the ticks that were recorded, in order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { streaks, outcomes } = recorded(all);
        expect(listed(streaks)).to.deep.equal(outcomes);
        expect(streaks.reduce((sum, streak) => sum + (countOf(streak) ?? 0), 0)).to.equal(outcomes.length);
      }),
    );
  });

  it('have the ticks of any time, and only those', () => {
    fc.assert(
      fc.property(steps, fc.nat(400_000), fc.nat(400_000), (all, sinceMs, forMs) => {
        const { streaks, outcomes } = recorded(all);
        const within = outcomes.filter(([atMs]) => atMs >= sinceMs && atMs <= sinceMs + forMs);
        expect(listed(streaks, sinceMs, sinceMs + forMs)).to.deep.equal(within);
      }),
    );
  });

  it('lose only the tick that is taken out', () => {
    fc.assert(
      fc.property(steps, fc.nat(), (all, pick) => {
        const { streaks, outcomes } = recorded(all);
        const takenMs = outcomes[pick % Math.max(outcomes.length, 1)]?.[0] ?? 0;
        const left = outcomes.filter(([atMs]) => atMs !== takenMs);
        expect(listed(withoutTick(streaks, takenMs))).to.deep.equal(left);
        expect(streaks.some((streak) => covers(streak, takenMs))).to.equal(left.length < outcomes.length);
      }),
    );
  });

  it('are one for a month of ticks that ran', () => {
    const month = Array.from({ length: 1_000 }, () => ({ afterMs: 10_000, result: RESULTS[0] }));
    expect(recorded(month).streaks).to.have.length(1);
  });

  it('find the tick of a request by its time in seconds, also when it was issued half a second late', () => {
    const streak: TickStreak = { outcome: 'ran', fromMs: 6_679, toMs: 36_679, everyMs: 10_000 };
    expect([6, 16, 17, 18, 36, 46].map((issuedS) => tickIssuedAt(streak, issuedS))).to.deep.equal([
      6_679,
      16_679,
      16_679,
      undefined,
      36_679,
      undefined,
    ]);
  });
});
