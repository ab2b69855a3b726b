import { expect } from 'chai';
import { watchSchedules } from './scheduler-watchdog.ts';

describe('F11: the schedules of checks that are edited every second', () => {
  it('have an outcome for each due tick: 300 checks for 30 seconds, no unexplained gap', async function () {
    this.timeout(120_000);
    const figures = await watchSchedules({ checks: 300, intervalsS: [3, 5, 7], forMs: 30_000, seed: 11 });
    expect(figures.faults).to.deep.equal([]);
    expect(figures.edits).to.be.greaterThan(20);
    expect(figures.due).to.be.greaterThan(1_000);
    expect(figures.answered).to.be.greaterThan(1_000);
    expect(Object.keys(figures.ofAgents)).to.include('ran');
  });
});
