import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { AdmissionPacer } from '../../../src/sessions/pacing/admission-pacer.ts';

const PER_TICK = 32;

describe('the admission pacer', () => {
  let nowMs: number;
  const clock = { monotonicMs: () => nowMs };

  beforeEach(() => {
    nowMs = 0;
  });

  it('runs the first tasks of a tick at once and the others in later ticks, in order', async () => {
    const pacer = new AdmissionPacer(clock);
    const passed: number[] = [];
    const numbers = Array.from({ length: 3 * PER_TICK }, (_, n) => n);
    for (const n of numbers) pacer.schedule(() => passed.push(n));
    expect(passed).to.deep.equal(numbers.slice(0, PER_TICK));
    await nextTick();
    expect(passed).to.deep.equal(numbers.slice(0, 2 * PER_TICK));
    await pacer.empty();
    expect(passed).to.deep.equal(numbers);
  });

  it('runs no task before waiting ones', async () => {
    const pacer = new AdmissionPacer(clock);
    const passed: string[] = [];
    for (let n = 0; n < PER_TICK; n += 1) pacer.schedule(() => undefined);
    pacer.schedule(() => {
      passed.push('first');
      pacer.schedule(() => passed.push('third'));
    });
    pacer.schedule(() => passed.push('second'));
    await pacer.empty();
    expect(passed).to.deep.equal(['first', 'second', 'third']);
  });

  it('accepts tasks at once again in the next tick', async () => {
    const pacer = new AdmissionPacer(clock);
    for (let tick = 0; tick < 3; tick += 1) {
      let passed = 0;
      for (let n = 0; n < PER_TICK; n += 1) pacer.schedule(() => (passed += 1));
      expect(passed, `tick ${tick}`).to.equal(PER_TICK);
      await nextTick();
    }
    await pacer.empty();
  });

  it('runs the configured number of tasks in a tick', async () => {
    const pacer = new AdmissionPacer(clock, 1);
    let passed = 0;
    for (let n = 0; n < 3; n += 1) pacer.schedule(() => (passed += 1));
    expect(passed).to.equal(1);
    await nextTick();
    expect(passed).to.equal(2);
    await pacer.empty();
    expect(passed).to.equal(3);
  });

  describe('while connections arrive', () => {
    let pacer: AdmissionPacer;
    let passed: number[];

    beforeEach(() => {
      pacer = new AdmissionPacer(clock);
      passed = [];
    });

    const schedule = (...numbers: number[]): void => {
      for (const n of numbers) pacer.schedule(() => passed.push(n));
    };

    /** A tick of the event loop that accepts a connection and takes this time. */
    async function tickWithConnection(takesMs: number): Promise<void> {
      pacer.connectionAccepted();
      await nextTick();
      nowMs += takesMs;
    }

    it('admits four agents, then none for 3 ms', async () => {
      pacer.connectionAccepted();
      schedule(...Array.from({ length: 12 }, (_, n) => n));
      expect(passed).to.deep.equal([]);
      const admitted: number[] = [];
      for (let tick = 0; tick < 7; tick += 1) {
        await tickWithConnection(1);
        admitted.push(passed.length);
      }
      expect(admitted).to.deep.equal([4, 4, 4, 8, 8, 8, 12]);
      expect(passed).to.deep.equal(Array.from({ length: 12 }, (_, n) => n));
    });

    it('admits four agents in each tick of 3 ms or more, although one connection arrives in each', async () => {
      schedule(...Array.from({ length: 32 + 12 }, (_, n) => n));
      const admitted: number[] = [];
      for (let tick = 0; tick < 3; tick += 1) {
        await tickWithConnection(35);
        admitted.push(passed.length);
      }
      expect(admitted).to.deep.equal([36, 40, 44]);
    });

    it('admits as many as ever in the first tick without a connection', async () => {
      pacer.connectionAccepted();
      schedule(...Array.from({ length: 40 }, (_, n) => n));
      await tickWithConnection(0);
      expect(passed).to.have.length(4);
      await nextTick();
      expect(passed).to.have.length(36);
      await pacer.empty();
      expect(passed).to.have.length(40);
    });

    it('admits an agent that comes alone in the next tick', async () => {
      pacer.connectionAccepted();
      schedule(1);
      expect(passed).to.deep.equal([]);
      await nextTick();
      expect(passed).to.deep.equal([1]);
      schedule(2);
      expect(passed).to.deep.equal([1, 2]);
    });
  });
});
