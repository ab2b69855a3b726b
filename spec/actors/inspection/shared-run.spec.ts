import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { SharedRun } from '../../../src/actors/inspection/shared-run.ts';

describe('a shared run', () => {
  const STEPS = 20;
  let begun: number;
  let steps: number;
  let run: SharedRun<number>;

  beforeEach(() => {
    begun = 0;
    steps = 0;
    run = new SharedRun(async (isWanted) => {
      begun += 1;
      const number = begun;
      for (let step = 0; step < STEPS && isWanted(); step += 1) {
        steps += 1;
        await nextTick();
      }
      return number;
    });
  });

  const stays = (): boolean => false;

  it('has one result for all that called during the run before it', async () => {
    const results = [run.result(stays), run.result(stays), run.result(stays)];
    expect(await Promise.all(results)).to.deep.equal([1, 2, 2]);
  });

  it('ends early when its only caller has left', async () => {
    let isDisconnected = false;
    const result = run.result(() => isDisconnected);
    await nextTick();
    isDisconnected = true;
    await result;
    expect(steps).to.be.below(STEPS);
  });

  it('continues while one of its callers waits', async () => {
    await Promise.all([run.result(stays), run.result(() => true), run.result(stays)]);
    expect(steps).to.equal(2 * STEPS);
  });
});
