import { expect } from 'chai';
import { UNLIMITED_ADMISSION, PortGate } from '../../../src/sessions/handshake/port-gate.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the gate of the agent port', () => {
  it('refuses with 503 during the start-up wait without using the rate limit, and with 429 above the rate', async () => {
    const clock = new ManualClock();
    const gate = new PortGate(clock, { ...UNLIMITED_ADMISSION, serveWaitMs: 1_000, connectionsPerS: 2 });
    const statuses = (): unknown[] => [1, 2, 3].map(() => gate.admit()?.status);
    expect(statuses()).to.deep.equal([503, 503, 503]);
    await clock.advance(999);
    expect(statuses()).to.deep.equal([503, 503, 503]);
    await clock.advance(1);
    expect(statuses()).to.deep.equal([undefined, undefined, 429]);
  });

  it('admits all connections by default', () => {
    const gate = new PortGate(new ManualClock(), UNLIMITED_ADMISSION);
    for (let n = 0; n < 1_000; n += 1) expect(gate.admit()).to.equal(undefined);
  });
});
