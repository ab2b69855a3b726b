import { expect } from 'chai';
import { HeapGuard } from '../../../src/main/process/heap-guard.ts';

describe('the growth of the heap', () => {
  let clock: { nowMs: number; timers: { atMs: number; fire: () => void }[] };
  let set: number[];
  let guard: HeapGuard;

  beforeEach(() => {
    clock = { nowMs: 0, timers: [] };
    set = [];
    const after = (delayMs: number, fire: () => void) => {
      const timer = { atMs: clock.nowMs + delayMs, fire };
      clock.timers.push(timer);
      return () => void clock.timers.splice(clock.timers.indexOf(timer), 1);
    };
    guard = new HeapGuard({ after, monotonicMs: () => clock.nowMs }, (percent) => set.push(percent));
  });

  function advance(ms: number): void {
    clock.nowMs += ms;
    for (const timer of clock.timers.filter(({ atMs }) => atMs <= clock.nowMs)) {
      clock.timers.splice(clock.timers.indexOf(timer), 1);
      timer.fire();
    }
  }

  const close = (count: number): void => {
    for (let n = 0; n < count; n += 1) guard.connectionClosed();
  };

  it('is limited for a minute after the last hundred connections that closed within a second', () => {
    close(99);
    expect(set).to.deep.equal([]);
    close(1);
    expect(set).to.deep.equal([100]);
    advance(30_000);
    close(100);
    advance(59_999);
    expect(set).to.deep.equal([100]);
    advance(1);
    expect(set).to.deep.equal([100, 0]);
  });

  it('is not limited by connections that close in turn', () => {
    for (let second = 0; second < 10; second += 1) {
      close(60);
      advance(1_001);
    }
    expect(set).to.deep.equal([]);
  });

  it('is as usual after the stop', () => {
    close(100);
    guard.stop();
    expect([set, clock.timers]).to.deep.equal([[100, 0], []]);
  });
});
