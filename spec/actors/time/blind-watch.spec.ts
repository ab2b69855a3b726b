import { expect } from 'chai';
import { BlindWatch } from '../../../src/actors/time/blind-watch.ts';
import { SteadyTime } from '../../../src/actors/time/steady-time.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const START_MS = 1_700_000_000_000;

describe('steady time', () => {
  it('passes as the monotonic clock does, whatever happens to the wall clock', async () => {
    const clock = new ManualClock(START_MS);
    const time = new SteadyTime(clock);
    await clock.advance(1_000);
    clock.jump(-86_400_000);
    expect(time.nowMs()).to.equal(START_MS + 1_000);
    expect(time.wallLeadMs()).to.equal(-86_400_000);
  });

  it('does not begin before the moment that was reached, although the wall clock was set back meanwhile', () => {
    const clock = new ManualClock(START_MS);
    expect(new SteadyTime(clock, START_MS + 5_000).nowMs()).to.equal(START_MS + 5_000);
    expect(new SteadyTime(clock, START_MS - 5_000).nowMs()).to.equal(START_MS);
  });

  it('takes in a suspend once, and not the grain of the clocks', () => {
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
      blind: (interval, unreadMs) => seen.push({ ...interval, unreadMs }),
      stepped: (byMs) => seen.push({ byMs }),
    });
  });

  /** Looks after `dueMs`, and `lateMs` more. */
  async function look(afterMs: number, lateMs = 0): Promise<void> {
    const dueMs = time.nowMs() + afterMs;
    await clock.advance(afterMs + lateMs);
    watch.look(dueMs);
  }

  it('says nothing while timers run when they are due, or a little later', async () => {
    for (let round = 0; round < 10; round += 1) await look(5_000, 2_000);
    expect(seen).to.deep.equal([]);
  });

  it('finds a stopped process by a timer that is late: blind since the last look', async () => {
    await look(5_000);
    await look(5_000, 60_000);
    expect(seen).to.deep.equal([{ beginMs: START_MS + 5_000, endMs: START_MS + 70_000, unreadMs: 65_000 }]);
  });

  it('finds it once, however many timers are late', async () => {
    const dueMs = time.nowMs() + 5_000;
    await clock.advance(60_000);
    watch.look(dueMs);
    watch.look(dueMs + 1_000);
    expect(seen).to.have.lengthOf(1);
  });

  it('finds a suspended machine, in which no time to read has passed', async () => {
    const dueMs = time.nowMs() + 5_000;
    await clock.advance(2_000);
    clock.suspend(300_000);
    await clock.advance(3_000);
    watch.look(dueMs);
    expect(seen).to.deep.equal([{ beginMs: START_MS, endMs: START_MS + 305_000, unreadMs: 5_000 }]);
  });

  it('tells a wall clock that was set from time that has passed, once', async () => {
    clock.jump(3_600_000);
    await look(5_000);
    await look(5_000);
    clock.jump(-3_600_000);
    await look(5_000);
    expect(seen).to.deep.equal([{ byMs: 3_600_000 }, { byMs: -3_600_000 }]);
  });

  it('lets the wall clock be slewed', async () => {
    for (let round = 0; round < 10; round += 1) {
      clock.jump(50);
      await look(5_000);
    }
    expect(seen).to.deep.equal([]);
  });
});
