import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { AdmissionPacer } from '../../../src/sessions/pacing/admission-pacer.ts';

const IN_A_TURN = 32;

describe('the admission pacer', () => {
  it('runs the first tasks of a tick at once and the others in later ticks, in order', async () => {
    const pacer = new AdmissionPacer();
    const passed: number[] = [];
    const numbers = Array.from({ length: 3 * IN_A_TURN }, (_, n) => n);
    for (const n of numbers) pacer.schedule(() => passed.push(n));
    expect(passed).to.deep.equal(numbers.slice(0, IN_A_TURN));
    await nextTick();
    expect(passed).to.deep.equal(numbers.slice(0, 2 * IN_A_TURN));
    await pacer.empty();
    expect(passed).to.deep.equal(numbers);
  });

  it('runs no task before waiting ones', async () => {
    const pacer = new AdmissionPacer();
    const passed: string[] = [];
    for (let n = 0; n < IN_A_TURN; n += 1) pacer.schedule(() => undefined);
    pacer.schedule(() => {
      passed.push('first');
      pacer.schedule(() => passed.push('third'));
    });
    pacer.schedule(() => passed.push('second'));
    await pacer.empty();
    expect(passed).to.deep.equal(['first', 'second', 'third']);
  });

  it('accepts tasks at once again in the next tick', async () => {
    const pacer = new AdmissionPacer();
    for (let turn = 0; turn < 3; turn += 1) {
      let passed = 0;
      for (let n = 0; n < IN_A_TURN; n += 1) pacer.schedule(() => (passed += 1));
      expect(passed, `turn ${turn}`).to.equal(IN_A_TURN);
      await nextTick();
    }
    await pacer.empty();
  });

  it('runs the configured number of tasks in a tick', async () => {
    const pacer = new AdmissionPacer(1);
    let passed = 0;
    for (let n = 0; n < 3; n += 1) pacer.schedule(() => (passed += 1));
    expect(passed).to.equal(1);
    await nextTick();
    expect(passed).to.equal(2);
    await pacer.empty();
    expect(passed).to.equal(3);
  });
});
