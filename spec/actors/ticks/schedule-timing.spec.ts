import { expect } from 'chai';
import fc from 'fast-check';
import { firstTickOf, spreadOf, tickAfter } from '../../../src/actors/ticks/schedule-timing.ts';

const START_MS = 1_700_000_000_000;
const metadata = {
  name: 'check-disk',
  namespace: 'default',
  labels: undefined,
  annotations: undefined,
  created_by: undefined,
};
const every = (interval: number) => ({ metadata, interval, cron: undefined });
const cron = (expression: string) => ({ metadata, interval: 0, cron: `TZ=UTC ${expression}` });

describe('the ticks of a check', () => {
  it('by interval stay on their grid when one is late, and missed ones are not repeated', () => {
    expect(tickAfter(every(10), 7_000, 7_000)).to.equal(17_000);
    expect(tickAfter(every(10), 7_000, 38_500)).to.equal(47_000);
    expect(tickAfter(every(10), 7_000, 17_000)).to.equal(27_000);
  });

  it('by interval are on the grid of the first tick, in the future, and at most one interval away', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.nat({ max: 1e9 }),
        fc.nat({ max: 1e9 }),
        (interval, tick, late) => {
          const nextMs = tickAfter(every(interval), tick, tick + late);
          expect((nextMs - tick) % (interval * 1_000)).to.equal(0);
          expect(nextMs).to.be.within(tick + late + 1, tick + late + interval * 1_000);
        },
      ),
    );
  });

  it('by cron expression continue with the next cron time after a late one', () => {
    expect(firstTickOf(cron('*/5 * * * *'), START_MS)).to.equal(START_MS + 100_000);
    expect(tickAfter(cron('*/5 * * * *'), START_MS + 100_000, START_MS + 1_000_000)).to.equal(START_MS + 1_300_000);
  });

  it('by @every keep their interval', () => {
    expect(firstTickOf(cron('@every 90s'), START_MS + 400)).to.equal(START_MS + 90_000);
    expect(tickAfter(cron('@every 90s'), START_MS, START_MS + 100_000)).to.equal(START_MS + 180_000);
  });

  it('are spread over one interval, or until the next cron time unless it is too near', () => {
    expect(spreadOf(every(60), START_MS)).to.equal(60_000);
    expect(spreadOf(cron('*/5 * * * *'), START_MS)).to.equal(100_000);
    expect(spreadOf(cron('*/5 * * * *'), START_MS + 96_000)).to.equal(299_000);
  });
});
