import { expect } from 'chai';
import { watchSchedules } from '../faults/scheduler-watchdog.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTE_MS = 60_000;
/** Creating 1,000 checks and reading all their ticks. */
const AROUND_MS = 5 * MINUTE_MS;

describe('F11: the schedules of 1,000 checks that are edited every second', () => {
  const minutes = soakMinutes();

  for (const [title, disturbances] of [
    ['agents that leave and come back', { agentLeavesEveryMs: 20_000 }],
    [
      'agents that leave, and a backend that is killed every minute',
      { agentLeavesEveryMs: 20_000, killEveryMs: MINUTE_MS },
    ],
  ] as const) {
    it(`have an outcome for each due tick, with ${title}`, async function () {
      this.timeout(minutes * MINUTE_MS + AROUND_MS);
      const forMs = (minutes * MINUTE_MS) / 2;
      const figures = await watchSchedules({
        checks: 1_000,
        intervalsS: [10, 20, 30],
        forMs,
        seed: 11,
        ...disturbances,
      });
      console.log(
        JSON.stringify({ minutes: forMs / MINUTE_MS, ...figures, faults: figures.faults.slice(0, 20) }, null, 2),
      );
      expect(figures.faults).to.deep.equal([]);
      expect(figures.due).to.be.greaterThan(0);
    });
  }
});
