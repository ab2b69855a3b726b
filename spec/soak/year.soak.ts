import { expect } from 'chai';
import { StoredSystem } from '../support/stored-system.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTES = soakMinutes();
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MB = 1e6;
/** The installation of docs/sizing.md, "Disk space per day". */
const AGENTS = 100;
const CHECKS = 10;
const CHANGES_A_DAY = 10;
const DAYS = 365;
/** What docs/sizing.md promises for a year, beside the results themselves. */
const PROMISED_MB = 400;
const RESULTS_MB = 5;
/** Every hop passes at once, except for its last minute, in which the periodic work of the backend is done. */
const HOPS_A_DAY = 4;
const AWAKE_MS = MINUTE_MS;
/** Results under way at the same time. */
const AT_ONCE = 50;
const OUTPUT = 'x'.repeat(1_000);

/** A year of ten changes a day for each agent, on a clock that skips the time between them and on a real store. */
describe('a year of 100 agents', () => {
  it('fits into the size that docs/sizing.md promises', async function () {
    const untilMs = performance.now() + MINUTES * MINUTE_MS;
    this.timeout(2 * MINUTES * MINUTE_MS + MINUTE_MS);
    const system = await StoredSystem.start();
    try {
      const size = () => ({ ...system.store.size?.(), seq: system.store.ledgerHead().seq });
      const report = (from: number, changes: number, status: number): Promise<void[]> =>
        Promise.all(
          Array.from({ length: changes }, (_, index) => {
            const result = (from + index) % (AGENTS * CHECKS);
            return system.result(`agent-${result % AGENTS}`, `check-${Math.floor(result / AGENTS)}`, {
              status,
              output: OUTPUT,
            });
          }),
        );
      for (let n = 0; n < AGENTS * CHECKS; n += AT_ONCE) await report(n, AT_ONCE, 0);
      const before = size();

      let changes = 0;
      let days = 0;
      // Each result changes its status once a day, in the order of its number.
      for (; days < DAYS && performance.now() < untilMs; days += 1) {
        for (let hop = 0; hop < HOPS_A_DAY; hop += 1) {
          system.clock.suspend((24 * HOUR_MS) / HOPS_A_DAY - AWAKE_MS);
          await system.clock.advance(AWAKE_MS);
          const perHop = (AGENTS * CHANGES_A_DAY) / HOPS_A_DAY;
          for (let n = 0; n < perHop; n += AT_ONCE) {
            await report(changes, AT_ONCE, days % 2 === 0 ? 2 : 0);
            changes += AT_ONCE;
          }
        }
      }

      const after = size();
      const [usedMb, fileMb] = [after.usedBytes ?? NaN, after.bytes ?? NaN].map((bytes) => bytes / MB);
      const grownBytes = (after.usedBytes ?? NaN) - (before.usedBytes ?? NaN);
      const yearMb = ((grownBytes / days) * DAYS) / MB;
      const figures = {
        days,
        changes,
        entries: after.seq - before.seq,
        usedMb,
        fileMb,
        perChange: grownBytes / changes,
        yearMb,
      };
      process.stdout.write(`${JSON.stringify(figures)}\n`);
      expect(changes).to.equal(days * AGENTS * CHANGES_A_DAY);
      expect(after.seq - before.seq).to.be.at.least(changes);
      expect(fileMb).to.be.below((PROMISED_MB * days) / DAYS + RESULTS_MB);
      expect(yearMb).to.be.below(PROMISED_MB);
    } finally {
      await system.stop();
    }
  });
});
