import { expect } from 'chai';
import { EVERYBODY_AT_ONCE, PortGate } from '../../src/sessions/port-gate.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('the gate of the agent port', () => {
  it('says 503 while the backend has just started, which uses up nothing of the rate beyond which it says 429', async () => {
    const clock = new ManualClock();
    const gate = new PortGate(clock, { ...EVERYBODY_AT_ONCE, serveWaitMs: 1_000, connectionsPerS: 2 });
    const statuses = (): unknown[] => [1, 2, 3].map(() => gate.enter()?.status);
    expect(statuses()).to.deep.equal([503, 503, 503]);
    await clock.advance(999);
    expect(statuses()).to.deep.equal([503, 503, 503]);
    await clock.advance(1);
    expect(statuses()).to.deep.equal([undefined, undefined, 429]);
  });

  it('lets everybody in at once unless it is told otherwise', () => {
    const gate = new PortGate(new ManualClock(), EVERYBODY_AT_ONCE);
    for (let n = 0; n < 1_000; n += 1) expect(gate.enter()).to.equal(undefined);
  });
});
