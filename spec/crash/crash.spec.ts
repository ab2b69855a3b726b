import { expect } from 'chai';
import { crashRounds } from './crash-rounds.ts';

const ROUNDS = 10;

describe('a backend that is killed at random instants', function () {
  this.timeout(120_000);

  it('has lost nothing that it promised, after each of ten kills', async () => {
    const { faults, acknowledged } = await crashRounds(ROUNDS, Math.random);
    expect(faults).to.deep.equal([]);
    expect(acknowledged).to.be.above(0);
  });
});
