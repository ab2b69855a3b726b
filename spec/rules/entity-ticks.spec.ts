import { expect } from 'chai';
import { entityOutcomes, type EntityTicks } from '../../src/rules/entity-ticks.ts';

const RAN = { outcome: 'ran', agents: [1, 1], fromMs: 60_000, toMs: 60_000, everyMs: 0 } as const;

/** The outcomes of an agent that ran the first tick, at 10 s, and had no outcome of its own after it. */
function outcomesAt60s(changes: Partial<EntityTicks>): string[] {
  const entity: EntityTicks = {
    own: [{ ...RAN, fromMs: 10_000, toMs: 10_000 }],
    away: [],
    awaySinceMs: undefined,
    outages: [],
    isSubscribed: true,
    ...changes,
  };
  const all = [...entityOutcomes([RAN], entity, 0, 100_000)];
  return all.filter(({ atMs }) => atMs === 60_000).map(({ result: { outcome, reason } }) => `${outcome}: ${reason}`);
}

describe('a tick that ran, of an agent without an outcome', () => {
  const LOST = ['lost: the agent was not connected'];

  it('has none while its result is expected', () => {
    expect(outcomesAt60s({})).to.deep.equal([]);
  });

  it('is lost when the agent was not connected', () => {
    expect(outcomesAt60s({ awaySinceMs: 59_000 })).to.deep.equal(LOST);
    expect(outcomesAt60s({ away: [{ outcome: 'lost', fromMs: 59_000, toMs: 61_000, everyMs: 0 }] })).to.deep.equal(
      LOST,
    );
  });

  it('is lost when the connection ended between the tick and its request', () => {
    expect(outcomesAt60s({ awaySinceMs: 60_004 })).to.deep.equal(LOST);
    expect(outcomesAt60s({ away: [{ outcome: 'lost', fromMs: 60_004, toMs: 61_000, everyMs: 0 }] })).to.deep.equal(
      LOST,
    );
  });

  it('has none when the agent was not connected at another time', () => {
    expect(outcomesAt60s({ away: [{ outcome: 'lost', fromMs: 20_000, toMs: 59_000, everyMs: 0 }] })).to.deep.equal([]);
  });
});
