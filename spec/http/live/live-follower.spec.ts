import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { LiveFollower } from '../../../src/http/live/live-follower.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const STEPS = 50;

describe('a live connection with a backlog of changes that it does not get', () => {
  it('reads one part of them in each tick of the event loop', async () => {
    let steps = 0;
    const clock = new ManualClock();
    const follower = new LiveFollower(0, {
      reader: { send: () => undefined, drained: () => Promise.resolve(), fail: () => expect.fail('the reader failed') },
      ledger: () => {
        steps += 1;
        return { entries: [], afterSeq: steps < STEPS ? steps : undefined };
      },
      messages: () => [],
      clock,
      log: new RecordedLog(),
    });
    const running = follower.run();
    for (let tick = 1; steps < STEPS; tick += 1) {
      await nextTick();
      expect(steps).to.be.at.most(tick + 1);
    }
    follower.end();
    await clock.advance(50);
    await running;
  });
});
