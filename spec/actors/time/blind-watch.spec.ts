import { expect } from 'chai';
import { BlindWatch } from '../../../src/actors/time/blind-watch.ts';
import { SteadyTime } from '../../../src/actors/time/steady-time.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const START_MS = 1_700_000_000_000;

describe('steady time', () => {
  it('advances with the monotonic clock, whatever happens to the wall clock', async () => {
    const clock = new ManualClock(START_MS);
    const time = new SteadyTime(clock);
    await clock.advance(1_000);
    clock.jump(-86_400_000);
    expect(time.nowMs()).to.equal(START_MS + 1_000);
    expect(time.wallLeadMs()).to.equal(-86_400_000);
  });

  it('does not begin before the time that the former process reached, even after the wall clock was set back', () => {
    const clock = new ManualClock(START_MS);
    expect(new SteadyTime(clock, START_MS + 5_000).nowMs()).to.equal(START_MS + 5_000);
    expect(new SteadyTime(clock, START_MS - 5_000).nowMs()).to.equal(START_MS);
  });

  it('adds a suspend once, and ignores the resolution of the clocks', () => {
    const clock = new ManualClock(START_MS);
    const time = new SteadyTime(clock);
    clock.suspend(300_000);
    expect(time.catchUp()).to.equal(300_000);
    expect(time.catchUp()).to.equal(0);
    expect(time.nowMs()).to.equal(START_MS + 300_000);
    clock.suspend(30);
    expect(time.catchUp()).to.equal(0);
    expect(time.nowMs()).to.equal(START_MS + 300_000);
  });
});

describe('the watch for blind time', () => {
  let clock: ManualClock;
  let time: SteadyTime;
  let watch: BlindWatch;
  let seen: unknown[];

  beforeEach(() => {
    clock = new ManualClock(START_MS);
    time = new SteadyTime(clock);
    seen = [];
    watch = new BlindWatch({
      clock,
      time,
      blindRecorder: { ended: (_, interval, unreadMs) => seen.push({ ...interval, unreadMs }) },
      clockStep: { stepped: (byMs) => seen.push({ byMs }) },
    });
  });

  /** Checks the clocks `afterMs` from now, and `lateMs` later than that. */
  async function check(afterMs: number, lateMs = 0): Promise<void> {
    const dueMs = time.nowMs() + afterMs;
    await clock.advance(afterMs + lateMs);
    watch.check(dueMs);
  }

  it('reports nothing while timers fire on time or a little late', async () => {
    for (let round = 0; round < 10; round += 1) await check(5_000, 2_000);
    expect(seen).to.deep.equal([]);
  });

  it('reports a stopped process when a timer is late, as blind since the last check', async () => {
    await check(5_000);
    await check(5_000, 60_000);
    expect(seen).to.deep.equal([{ beginMs: START_MS + 5_000, endMs: START_MS + 70_000, unreadMs: 65_000 }]);
  });

  it('reports a stopped process once, however many timers are late', async () => {
    const dueMs = time.nowMs() + 5_000;
    await clock.advance(60_000);
    watch.check(dueMs);
    watch.check(dueMs + 1_000);
    expect(seen).to.have.lengthOf(1);
  });

  it('reports a suspended machine, during which there was no time to read', async () => {
    const dueMs = time.nowMs() + 5_000;
    await clock.advance(2_000);
    clock.suspend(300_000);
    await clock.advance(3_000);
    watch.check(dueMs);
    expect(seen).to.deep.equal([{ beginMs: START_MS, endMs: START_MS + 305_000, unreadMs: 5_000 }]);
  });

  it('reports each step of the wall clock once, and not as blind time', async () => {
    clock.jump(3_600_000);
    await check(5_000);
    await check(5_000);
    clock.jump(-3_600_000);
    await check(5_000);
    expect(seen).to.deep.equal([{ byMs: 3_600_000 }, { byMs: -3_600_000 }]);
  });

  it('reports nothing while the wall clock is slewed', async () => {
    for (let round = 0; round < 10; round += 1) {
      clock.jump(50);
      await check(5_000);
    }
    expect(seen).to.deep.equal([]);
  });
});
