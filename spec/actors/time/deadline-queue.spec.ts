import { expect } from 'chai';
import { BlindTime } from '../../../src/actors/time/blind-time.ts';
import {
  DeadlineQueue,
  type DeadlineQueuePorts,
  type ReachedDeadline,
} from '../../../src/actors/time/deadline-queue.ts';
import { SteadyTime } from '../../../src/actors/time/steady-time.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const START_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;

interface Stage {
  clock: ManualClock;
  blind: BlindTime;
  deadlineQueue: DeadlineQueue;
  fired: ReachedDeadline[];
}

const portsOf = (clock: ManualClock, blind: BlindTime): DeadlineQueuePorts => ({
  clock,
  time: new SteadyTime(clock),
  blind,
  wallClockActors: new Set(['check-schedule']),
});

function stage(): Stage {
  const clock = new ManualClock(START_MS);
  const blind = new BlindTime([]);
  const fired: ReachedDeadline[] = [];
  const deadlineQueue = new DeadlineQueue(portsOf(clock, blind));
  deadlineQueue.setListener({ beforeFiring: () => undefined, reached: (deadline) => fired.push(deadline) });
  deadlineQueue.start();
  return { clock, blind, deadlineQueue, fired };
}

describe('the deadline queue', () => {
  let clock: ManualClock;
  let blind: BlindTime;
  let deadlineQueue: DeadlineQueue;
  let fired: ReachedDeadline[];

  beforeEach(() => {
    ({ clock, blind, deadlineQueue, fired } = stage());
  });

  const keys = () => fired.map(({ key }) => key);
  const set = (key: string, afterMs: number) => {
    deadlineQueue.set('entity', key, START_MS + afterMs, START_MS);
  };

  it('fires a deadline on time, never before, and once', async () => {
    set('a', 5_000);
    await clock.advance(4_999);
    expect(fired).to.deep.equal([]);
    await clock.advance(1);
    expect(fired).to.deep.equal([
      {
        actor: 'entity',
        key: 'a',
        deadlineAtMs: START_MS + 5_000,
        sinceMs: START_MS,
        atMs: START_MS + 5_000,
        graceMs: 0,
        blindMs: 0,
        repeat: undefined,
      },
    ]);
    await clock.advance(60_000);
    expect(fired).to.have.lengthOf(1);
    expect(deadlineQueue.size).to.equal(0);
  });

  it('fires late deadlines in the order of their times, also those that were moved behind another', async () => {
    set('moved', 100);
    set('moved', 300);
    set('other', 200);
    await clock.stall(1_000);
    expect(keys()).to.deep.equal(['other', 'moved']);
  });

  it('restarts a repeated deadline at the end of blind time that came after the last one', async () => {
    const repeated = { graceMs: 0, firstAtMs: START_MS + 5_000 };
    deadlineQueue.set('entity', 'before', START_MS + 50_000, START_MS, repeated);
    deadlineQueue.set('entity', 'since', START_MS + 50_000, START_MS, { ...repeated, graceMs: 46_000 });
    blind.add({ beginMs: START_MS + 45_000, endMs: START_MS + 46_000 });
    deadlineQueue.rebuild();
    await clock.advance(50_999);
    expect(keys()).to.deep.equal([]);
    await clock.advance(1);
    expect(keys()).to.deep.equal(['before']);
    await clock.advance(45_000);
    expect(keys()).to.deep.equal(['before', 'since']);
  });

  it('restarts a retried deadline at the end of blind time if it repeats an earlier one', async () => {
    const repeated = { graceMs: 0, firstAtMs: START_MS + 5_000 };
    deadlineQueue.set('entity', 'a', START_MS + 50_000, START_MS, repeated);
    await clock.advance(50_000);
    for (const reached of fired.splice(0)) deadlineQueue.retry(reached, clock.nowMs() + 1_000);
    blind.add({ beginMs: START_MS + 50_000, endMs: START_MS + 53_000 });
    deadlineQueue.rebuild();
    await clock.advance(7_999);
    expect(keys()).to.deep.equal([]);
    await clock.advance(1);
    expect(keys()).to.deep.equal(['a']);
  });

  it('fires in the order of time, whatever the order of setting', async () => {
    for (const [key, afterMs] of [
      ['c', 300],
      ['a', 100],
      ['d', 400],
      ['b', 200],
    ] as const)
      set(key, afterMs);
    await clock.advance(400);
    expect(keys()).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('fires a deadline that was moved later at the later time only', async () => {
    set('a', 100);
    set('a', 200);
    await clock.advance(199);
    expect(fired).to.deep.equal([]);
    await clock.advance(1);
    expect(fired.map(({ deadlineAtMs }) => deadlineAtMs - START_MS)).to.deep.equal([200]);
  });

  it('fires a deadline that was moved earlier at the earlier time only', async () => {
    set('a', 1_000);
    set('a', 100);
    await clock.advance(100);
    expect(keys()).to.deep.equal(['a']);
    await clock.advance(10_000);
    expect(fired).to.have.lengthOf(1);
  });

  it('fires a deadline once that was moved earlier and back', async () => {
    for (const afterMs of [200, 100, 200]) set('a', afterMs);
    await clock.advance(1_000);
    expect(fired.map(({ deadlineAtMs }) => deadlineAtMs - START_MS)).to.deep.equal([200]);
  });

  it('does not fire a dropped deadline, and fires one that was set again', async () => {
    set('a', 100);
    set('b', 100);
    deadlineQueue.drop('entity', 'a');
    deadlineQueue.drop('entity', 'b');
    set('b', 150);
    await clock.advance(1_000);
    expect(fired.map(({ key, deadlineAtMs }) => [key, deadlineAtMs - START_MS])).to.deep.equal([['b', 150]]);
  });

  it('keeps the deadlines of two kinds of actor with one key apart', async () => {
    deadlineQueue.set('entity', 'a', START_MS + 100, START_MS);
    deadlineQueue.set('check-ttl', 'a', START_MS + 200, START_MS);
    deadlineQueue.drop('entity', 'a');
    await clock.advance(1_000);
    expect(fired.map(({ actor }) => actor)).to.deep.equal(['check-ttl']);
  });

  it('waits longer than the longest timer', async () => {
    set('a', 40 * DAY_MS);
    await clock.advance(40 * DAY_MS - 1);
    expect(fired).to.deep.equal([]);
    await clock.advance(1);
    expect(keys()).to.deep.equal(['a']);
  });

  it('fires deadlines that were reached while it was stopped after the next start', async () => {
    deadlineQueue.stop();
    set('a', 100);
    await clock.advance(1_000);
    expect(fired).to.deep.equal([]);
    deadlineQueue.start();
    await clock.advance(0);
    expect(keys()).to.deep.equal(['a']);
  });

  it('fires thousands of deadlines that are due at the same time', async () => {
    for (let n = 0; n < 3_000; n += 1) set(`k${n}`, 100);
    await clock.advance(100);
    expect(new Set(keys())).to.have.property('size', 3_000);
  });

  it('moves only deadlines that count from an input before blind time, when it is rebuilt', async () => {
    deadlineQueue.set('entity', 'before', START_MS + 5_000, START_MS);
    await clock.advance(1_000);
    deadlineQueue.stop();
    await clock.advance(60_000);
    blind.add({ beginMs: START_MS + 1_000, endMs: START_MS + 61_000 });
    deadlineQueue.set('entity', 'after', START_MS + 62_000, START_MS + 61_000);
    deadlineQueue.rebuild();
    deadlineQueue.start();
    await clock.advance(4_999);
    expect(keys()).to.deep.equal(['after']);
    await clock.advance(1);
    expect(fired.at(-1)).to.deep.equal({
      actor: 'entity',
      key: 'before',
      deadlineAtMs: START_MS + 5_000,
      sinceMs: START_MS,
      atMs: START_MS + 66_000,
      graceMs: 61_000,
      blindMs: 60_000,
      repeat: undefined,
    });
  });

  it('retries a deadline under its old identity, unless it was set again', async () => {
    set('a', 100);
    set('b', 100);
    await clock.advance(100);
    for (const reached of fired.splice(0)) deadlineQueue.retry(reached, clock.nowMs() + 1_000);
    set('b', 5_000);
    await clock.advance(1_000);
    expect(fired.map(({ key, deadlineAtMs }) => [key, deadlineAtMs - START_MS])).to.deep.equal([['a', 100]]);
  });

  for (const byMs of [3_600_000, -3_600_000]) {
    it(`does not move steady deadlines when the wall clock is set by ${byMs / 1_000} s`, async () => {
      set('a', 5_000);
      await clock.advance(1_000);
      clock.jump(byMs);
      await clock.advance(3_999);
      expect(keys()).to.deep.equal([]);
      await clock.advance(1);
      expect(keys()).to.deep.equal(['a']);
    });

    it(`moves wall clock deadlines when the wall clock is set by ${byMs / 1_000} s`, async () => {
      deadlineQueue.set('check-schedule', 'a', START_MS + 7_200_000, Infinity);
      clock.jump(byMs);
      deadlineQueue.rebuild();
      await clock.advance(7_200_000 - byMs - 1);
      expect(keys()).to.deep.equal([]);
      await clock.advance(1);
      expect(keys()).to.deep.equal(['a']);
      expect(clock.nowMs()).to.equal(START_MS + 7_200_000);
    });
  }

  it('waits for a wall clock that is slewed back a little', async () => {
    deadlineQueue.set('check-schedule', 'a', START_MS + 5_000, Infinity);
    clock.jump(-20);
    await clock.advance(5_019);
    expect(keys()).to.deep.equal([]);
    await clock.advance(1);
    expect(keys()).to.deep.equal(['a']);
  });

  it('agrees with a plain list of deadlines over 100,000 random operations', async () => {
    const random = SeededRandom.fresh();
    const due = new Map<string, number>();
    const wrong: string[] = [];
    const oracle = new DeadlineQueue(portsOf(clock, blind));
    oracle.setListener({
      beforeFiring: () => undefined,
      reached: ({ key, deadlineAtMs, atMs }) => {
        if (due.get(key) !== deadlineAtMs || atMs < deadlineAtMs) wrong.push(`${key} fired at ${atMs}`);
        due.delete(key);
      },
    });
    oracle.start();
    for (let operation = 0; operation < 100_000; operation += 1) {
      const key = `k${random.below(300)}`;
      const choice = random.below(1_000);
      if (choice < 700) {
        const atMs = clock.nowMs() + random.below(2_000);
        due.set(key, atMs);
        oracle.set('entity', key, atMs, Infinity);
      } else if (choice < 995) {
        due.delete(key);
        oracle.drop('entity', key);
      } else {
        await clock.advance(random.below(100));
        for (const [late, atMs] of due) if (atMs <= clock.nowMs()) wrong.push(`${late} did not fire at ${atMs}`);
      }
    }
    expect(wrong, `with MON_SPEC_SEED=${random.seed}`).to.deep.equal([]);
    expect(oracle.size).to.equal(due.size);
    oracle.stop();
  });
});
