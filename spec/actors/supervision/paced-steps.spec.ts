import { expect } from 'chai';
import { PacedSteps } from '../../../src/actors/supervision/paced-steps.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

describe('paced steps', () => {
  const world = perTest(() => {
    const clock = new ManualClock(0);
    const log = new RecordedLog();
    const at: number[] = [];
    const results: (() => Promise<number | undefined>)[] = [];
    const step = () => {
      at.push(clock.monotonicMs());
      return (results.shift() ?? (() => Promise.resolve(undefined)))();
    };
    const steps = new PacedSteps({ clock, log, step, failure: 'could not step', retryMs: 1_000 });
    return { clock, log, at, results, steps };
  });

  it('follow each other after the time that each one says', async () => {
    world.results.push(
      () => Promise.resolve(10),
      () => Promise.resolve(20),
    );
    world.steps.start(5);
    await world.clock.advance(10_000);
    expect(world.at).to.deep.equal([5, 15, 35]);
  });

  it('are taken again when woken, also when that was during the last step', async () => {
    world.results.push(async () => {
      await Promise.resolve();
      world.steps.wake(7);
      return undefined;
    });
    world.steps.start(0);
    await world.clock.advance(100);
    world.steps.wake(3);
    world.steps.wake(3);
    await world.clock.advance(100);
    expect(world.at).to.deep.equal([0, 7, 103]);
  });

  it('log an unexpected error, and try again after any', async () => {
    world.results.push(
      () => Promise.reject(new Error('broken')),
      () => Promise.reject(new InvalidResource('refused')),
    );
    world.steps.start(0);
    await world.clock.advance(10_000);
    expect(world.at).to.deep.equal([0, 1_000, 2_000]);
    expect(world.log.lines.map(({ msg }) => msg)).to.deep.equal(['could not step']);
  });

  it('end when they are stopped, also during a step', async () => {
    world.results.push(() => {
      world.steps.stop();
      return Promise.resolve(10);
    });
    world.steps.start(0);
    await world.clock.advance(100);
    world.steps.wake(1);
    await world.clock.advance(100);
    expect(world.at).to.deep.equal([0]);
  });
});
