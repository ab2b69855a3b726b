import { expect } from 'chai';
import { FairReading } from '../../../src/sessions/pacing/fair-reading.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

describe('reading from a fast sender', () => {
  let calls: string[];
  let clock: ManualClock;
  const socket = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  };

  beforeEach(() => {
    calls = [];
    clock = new ManualClock();
  });

  function readingOf({ isPaused = false, inOwnTick = (readOn: () => void) => readOn() } = {}): FairReading {
    return new FairReading({ socket, clock, inOwnTick, isPaused: () => isPaused });
  }

  function frames(reading: FairReading, count: number): void {
    for (let n = 0; n < count; n += 1) reading.count();
  }

  it('continues in the next tick after each thousand frames', async () => {
    const reading = readingOf();
    frames(reading, 999);
    await nextTick();
    expect(calls).to.deep.equal([]);
    reading.count();
    expect(calls).to.deep.equal(['pause']);
    await nextTick();
    expect(calls).to.deep.equal(['pause', 'resume']);
  });

  it('does not continue while the socket is paused for another reason', async () => {
    const reading = readingOf({ isPaused: true });
    frames(reading, 1_000);
    await nextTick();
    expect(calls).to.deep.equal(['pause']);
  });

  it('continues 25 ms after each hundred rejected frames', async () => {
    const reading = readingOf();
    for (let n = 0; n < 100; n += 1) reading.countRejected();
    expect(calls).to.deep.equal(['pause']);
    await clock.advance(24);
    expect(calls).to.deep.equal(['pause']);
    await clock.advance(1);
    expect(calls).to.deep.equal(['pause', 'resume']);
  });

  it('continues in a tick of its own among slowed connections', async () => {
    const turns: (() => void)[] = [];
    const reading = readingOf({ inOwnTick: (readOn) => void turns.push(readOn) });
    for (let n = 0; n < 100; n += 1) reading.countRejected();
    await clock.advance(25);
    expect(calls).to.deep.equal(['pause']);
    turns[0]?.();
    expect(calls).to.deep.equal(['pause', 'resume']);
  });

  it('does not continue in the next tick when most frames were rejected', async () => {
    const reading = readingOf();
    for (let n = 0; n < 1_000; n += 1) {
      reading.count();
      reading.countRejected();
    }
    await nextTick();
    expect(calls).to.deep.equal(['pause']);
    await clock.advance(25);
    expect(calls).to.deep.equal(['pause', 'resume']);
  });

  it('pauses for the duration of a slow frame', async () => {
    const reading = readingOf();
    for (let n = 0; n < 100; n += 1) reading.recordDuration(49);
    expect(calls).to.deep.equal([]);
    reading.recordDuration(800);
    expect(calls).to.deep.equal(['pause']);
    await clock.advance(799);
    expect(calls).to.deep.equal(['pause']);
    await clock.advance(1);
    expect(calls).to.deep.equal(['pause', 'resume']);
  });
});
