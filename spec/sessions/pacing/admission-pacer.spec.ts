import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { AdmissionPacer } from '../../../src/sessions/pacing/admission-pacer.ts';

const IN_A_TURN = 32;

describe('a turnstile', () => {
  it('lets the first of a turn pass at once, and the others in the turns after it, in order', async () => {
    const pacer = new AdmissionPacer();
    const passed: number[] = [];
    const numbers = Array.from({ length: 3 * IN_A_TURN }, (_, n) => n);
    for (const n of numbers) pacer.schedule(() => passed.push(n));
    expect(passed).to.deep.equal(numbers.slice(0, IN_A_TURN));
    await nextTurn();
    expect(passed).to.deep.equal(numbers.slice(0, 2 * IN_A_TURN));
    await pacer.empty();
    expect(passed).to.deep.equal(numbers);
  });

  it('lets nobody pass before those who wait', async () => {
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

  it('is free again in the next turn', async () => {
    const pacer = new AdmissionPacer();
    for (let turn = 0; turn < 3; turn += 1) {
      let passed = 0;
      for (let n = 0; n < IN_A_TURN; n += 1) pacer.schedule(() => (passed += 1));
      expect(passed, `turn ${turn}`).to.equal(IN_A_TURN);
      await nextTurn();
    }
    await pacer.empty();
  });

  it('lets as many pass in a turn as it is made for', async () => {
    const pacer = new AdmissionPacer(1);
    let passed = 0;
    for (let n = 0; n < 3; n += 1) pacer.schedule(() => (passed += 1));
    expect(passed).to.equal(1);
    await nextTurn();
    expect(passed).to.equal(2);
    await pacer.empty();
    expect(passed).to.equal(3);
  });
});
