import { expect } from 'chai';
import { ManualClock } from './manual-clock.ts';

describe('a manual clock', () => {
  it('does not advance by itself', async () => {
    const clock = new ManualClock(1_000);
    await clock.settle();
    expect([clock.nowMs(), clock.monotonicMs()]).to.deep.equal([1_000, 0]);
  });

  it('fires alarms in order of time, each at its exact time', async () => {
    const clock = new ManualClock(0);
    const fired: [string, number][] = [];
    for (const [name, delayMs] of [
      ['third', 30],
      ['first', 10],
      ['second', 20],
    ] as const) {
      clock.after(delayMs, () => fired.push([name, clock.nowMs()]));
    }
    await clock.advance(25);
    expect(fired).to.deep.equal([
      ['first', 10],
      ['second', 20],
    ]);
    expect(clock.nowMs()).to.equal(25);
  });

  it('fires alarms of the same time in the order in which they were set', async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    for (const name of ['a', 'b', 'c']) clock.after(5, () => fired.push(name));
    await clock.advance(5);
    expect(fired).to.deep.equal(['a', 'b', 'c']);
  });

  it('fires alarms that other alarms set, directly or after promises', async () => {
    const clock = new ManualClock(0);
    const firedAtMs: number[] = [];
    const tick = (): void => {
      firedAtMs.push(clock.nowMs());
      void Promise.resolve().then(() => clock.after(10, tick));
    };
    clock.after(10, tick);
    await clock.advance(35);
    expect(firedAtMs).to.deep.equal([10, 20, 30]);
  });

  it('fires the alarms that a stalled process missed in order of time, with alarms that they set for the same time', async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push('second'));
    clock.after(10, () => {
      fired.push('first');
      clock.after(0, () => fired.push('third'));
    });
    await clock.stall(100);
    expect(fired).to.deep.equal(['first', 'second', 'third']);
  });

  it('never fires a cancelled alarm, even if an alarm of the same time cancels it', async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const cancel: (() => void)[] = [];
    clock.after(5, () => {
      fired.push('first');
      for (const each of cancel) each();
    });
    cancel.push(clock.after(5, () => fired.push('second')));
    clock.after(5, () => fired.push('third'))();
    await clock.advance(10);
    expect(fired).to.deep.equal(['first']);
  });

  it('changes the wall clock in a jump and not the monotonic clock', async () => {
    const clock = new ManualClock(1_000);
    clock.jump(60_000);
    await clock.advance(5);
    expect([clock.nowMs(), clock.monotonicMs()]).to.deep.equal([61_005, 5]);
  });
});
