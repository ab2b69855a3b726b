import { expect } from 'chai';
import { crashRounds } from './crash-rounds.ts';

/** `npm run test:crash` kills it more often. */
const ROUNDS = 4;

describe('a backend that is killed at random instants', function () {
  this.timeout(120_000);

  it('loses no acknowledged event in four kills', async () => {
    const { errors, acknowledged } = await crashRounds(ROUNDS, Math.random);
    expect(errors).to.deep.equal([]);
    expect(acknowledged).to.be.above(0);
  });
});
