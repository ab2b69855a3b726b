import { expect } from 'chai';
import { perTest } from '../support/fixture.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { compileRecorder, hasCompiler } from './power-cut/journal.ts';
import { powerCuts } from './power-cut/power-cut.ts';

/** `npm run test:faults` cuts the power more often. */
const CUTS = 20;
const EVENTS = 200;

describe('a backend whose machine loses power', function () {
  this.timeout(120_000);
  const random = SeededRandom.fresh();
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  if (!hasCompiler()) {
    it('is modelled only where there is a C compiler', () => {
      expect(() => compileRecorder(directory.path)).to.throw('ENOENT');
    });
    return;
  }

  it(`F2: has lost no acknowledged event in twenty cuts, whichever unsynced sectors are on disk (seed ${random.seed})`, async () => {
    const { errors, acknowledged } = await powerCuts({ cuts: CUTS, events: EVENTS, sync: 'full' }, random);
    expect(errors).to.deep.equal([]);
    expect(acknowledged).to.equal(EVENTS);
  });

  it(`loses acknowledged events with --store-sync none, as its warning says (seed ${random.seed})`, async () => {
    const { errors } = await powerCuts({ cuts: CUTS, events: EVENTS, sync: 'none' }, random);
    expect(errors).to.not.be.empty;
  });
});
