import { expect } from 'chai';
import { Slots } from '../../../src/agent/execution/slots.ts';

/** Runs that end when they are told. */
class Runs {
  readonly started: number[] = [];
  readonly #ends: (() => void)[] = [];

  run = (number: number) => (): Promise<number> => {
    this.started.push(number);
    return new Promise((resolve) => {
      this.#ends[number] = () => resolve(number);
    });
  };

  end(number: number): void {
    this.#ends[number]?.();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('are given to runs in order, each to one run at a time', async () => {
    const slots = new Slots(2);
    const runs = new Runs();
    const all = [0, 1, 2, 3].map((number) => slots.with(runs.run(number)));
    await settled();
    expect(runs.started).to.deep.equal([0, 1]);
    runs.end(1);
    await settled();
    expect(runs.started).to.deep.equal([0, 1, 2]);
    runs.end(0);
    await settled();
    runs.end(2);
    runs.end(3);
    expect(await Promise.all(all)).to.deep.equal([0, 1, 2, 3]);
  });

  it('are free again after a run that fails', async () => {
    const slots = new Slots(1);
    const failed = slots.with(() => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    expect(await failed).to.equal('no');
    expect(await slots.with(() => Promise.resolve('yes'))).to.equal('yes');
  });

  it('have no limit at 0', async () => {
    const slots = new Slots(0);
    const runs = new Runs();
    const all = Array.from({ length: 100 }, (_, number) => slots.with(runs.run(number)));
    await settled();
    expect(runs.started).to.have.lengthOf(100);
    for (let number = 0; number < 100; number += 1) runs.end(number);
    await Promise.all(all);
  });
});
