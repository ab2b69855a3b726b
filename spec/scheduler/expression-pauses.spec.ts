import { expect } from 'chai';
import { ExpressionPauses } from '../../src/scheduler/expression-pauses.ts';
import { ManualClock } from '../support/manual-clock.ts';

const KEY = 'default/check';

describe('a check whose expressions were stopped', () => {
  let clock: ManualClock;
  let pauses: ExpressionPauses;

  beforeEach(() => {
    clock = new ManualClock();
    pauses = new ExpressionPauses(clock);
  });

  const stoppedAt = (...stoppedEntities: string[]): void => {
    pauses.selected(KEY, { stoppedEntities, decided: 0, stopped: `${stoppedEntities[0]}: took too long` });
  };
  const selected = (): void => {
    pauses.selected(KEY, { stoppedEntities: [], decided: 3, stopped: undefined });
  };

  it('leaves out the one or two entities at which that happened, for ten seconds', async () => {
    stoppedAt('a');
    stoppedAt('b');
    expect([...pauses.leftOut(KEY)]).to.deep.equal(['a', 'b']);
    expect(pauses.pauseOf(KEY)).to.equal(undefined);
    await clock.advance(20_000);
    expect([...pauses.leftOut(KEY)]).to.deep.equal([]);
  });

  it('leaves out only these entities when others were decided, up to a hundred of them', () => {
    const stopped = 'a: took too long';
    for (let n = 0; n < 99; n += 3) {
      pauses.selected(KEY, { stoppedEntities: [`e${n}`, `e${n + 1}`, `e${n + 2}`], decided: 1, stopped });
      expect(pauses.pauseOf(KEY)).to.equal(undefined);
      expect(pauses.leftOut(KEY)).to.have.property('size', n + 3);
    }
    pauses.selected(KEY, { stoppedEntities: ['x', 'y', 'z'], decided: 1, stopped });
    expect(pauses.pauseOf(KEY)).to.equal('not evaluated for 600 s after a: took too long');
  });

  it('does not run after three such entities and no other, for a time that doubles up to ten minutes', async () => {
    for (const pauseS of [10, 20, 40, 80, 160, 320, 600, 600]) {
      stoppedAt('a', 'b', 'c');
      expect(pauses.pauseOf(KEY)).to.equal(`not evaluated for ${pauseS} s after a: took too long`);
      await clock.advance(pauseS * 1_000 - 1);
      expect(pauses.pauseOf(KEY)).to.be.a('string');
      await clock.advance(1);
      expect(pauses.pauseOf(KEY)).to.equal(undefined);
      expect([...pauses.leftOut(KEY)]).to.deep.equal([]);
    }
  });

  it('begins with the shortest pause again after a selection that was not stopped', async () => {
    stoppedAt('a', 'b', 'c');
    selected();
    expect(pauses.pauseOf(KEY)).to.include('for 10 s');
    await clock.advance(10_000);
    stoppedAt('a', 'b', 'c');
    expect(pauses.pauseOf(KEY)).to.include('for 20 s');
    await clock.advance(20_000);
    selected();
    stoppedAt('a', 'b', 'c');
    expect(pauses.pauseOf(KEY)).to.include('for 10 s');
  });

  it('runs at once when it is changed, and does not affect other checks', () => {
    stoppedAt('a', 'b', 'c');
    expect(pauses.pauseOf('default/other')).to.equal(undefined);
    pauses.delete(KEY);
    expect(pauses.pauseOf(KEY)).to.equal(undefined);
    expect([...pauses.leftOut(KEY)]).to.deep.equal([]);
  });
});
