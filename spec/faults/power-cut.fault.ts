import { expect } from 'chai';
import { SeededRandom } from '../support/seeded-random.ts';
import { powerCuts } from './power-cut/power-cut.ts';

/** Each recording is of another run of the backend. */
const RECORDINGS = 3;
const CUTS = 150;
const EVENTS = 2_000;

describe('a backend whose machine loses power often', function () {
  this.timeout(600_000);
  const random = SeededRandom.fresh();

  it(`F2: has lost no acknowledged event in ${RECORDINGS * CUTS} cuts (seed ${random.seed})`, async () => {
    for (let recording = 0; recording < RECORDINGS; recording += 1) {
      const { errors } = await powerCuts({ cuts: CUTS, events: EVENTS, sync: 'full' }, random);
      expect(errors).to.deep.equal([]);
    }
  });
});
