import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Turnstile } from '../../src/sessions/turnstile.ts';

const IN_A_TURN = 32;

describe('a turnstile', () => {
  it('lets the first of a turn pass at once, and the others in the turns after it, in order', async () => {
    const turnstile = new Turnstile();
    const passed: number[] = [];
    const numbers = Array.from({ length: 3 * IN_A_TURN }, (_, n) => n);
    for (const n of numbers) turnstile.enter(() => passed.push(n));
    expect(passed).to.deep.equal(numbers.slice(0, IN_A_TURN));
    await nextTurn();
    expect(passed).to.deep.equal(numbers.slice(0, 2 * IN_A_TURN));
    await turnstile.empty();
    expect(passed).to.deep.equal(numbers);
  });

  it('lets nobody pass before those who wait', async () => {
    const turnstile = new Turnstile();
    const passed: string[] = [];
    for (let n = 0; n < IN_A_TURN; n += 1) turnstile.enter(() => undefined);
    turnstile.enter(() => {
      passed.push('first');
      turnstile.enter(() => passed.push('third'));
    });
    turnstile.enter(() => passed.push('second'));
    await turnstile.empty();
    expect(passed).to.deep.equal(['first', 'second', 'third']);
  });

  it('is free again in the next turn', async () => {
    const turnstile = new Turnstile();
    for (let turn = 0; turn < 3; turn += 1) {
      let passed = 0;
      for (let n = 0; n < IN_A_TURN; n += 1) turnstile.enter(() => (passed += 1));
      expect(passed, `turn ${turn}`).to.equal(IN_A_TURN);
      await nextTurn();
    }
    await turnstile.empty();
  });

  it('lets as many pass in a turn as it is made for', async () => {
    const turnstile = new Turnstile(1);
    let passed = 0;
    for (let n = 0; n < 3; n += 1) turnstile.enter(() => (passed += 1));
    expect(passed).to.equal(1);
    await nextTurn();
    expect(passed).to.equal(2);
    await turnstile.empty();
    expect(passed).to.equal(3);
  });
});
