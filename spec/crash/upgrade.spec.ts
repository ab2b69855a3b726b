import { expect } from 'chai';
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts';
import { FIXTURES } from '../store/stored-fixtures.ts';
import { killAtEachReport, killAtRandom, killEachRelease } from './upgrade-rounds.ts';

const RANDOM_ROUNDS = 1;

describe('an upgrade that is ended by SIGKILL', function () {
  this.timeout(120_000);

  it('F25: completes from the data of each earlier release when it is killed in the middle, twice', async () => {
    const rounds = await killEachRelease(Math.random);
    expect(rounds).to.have.length(FIXTURES.length);
    for (const { kill, content, expected, backups } of rounds) {
      expect(content, kill).to.deep.equal(expected);
      expect(backups, kill).to.not.be.empty;
    }
  });

  it('leads to the same store when it is killed at any point that it reports', async () => {
    const rounds = await killAtEachReport();
    expect(rounds.length > 0).to.equal(MIGRATIONS.length > 0);
    for (const { kill, content, expected, backups } of rounds) {
      expect(content, kill).to.deep.equal(expected);
      expect(
        backups.filter((name) => !name.endsWith('.mdb')),
        kill,
      ).to.deep.equal([]);
    }
  });

  it('leads to the same store when it is killed at random instants', async () => {
    for (let round = 0; round < RANDOM_ROUNDS; round += 1) {
      const { content, expected, backups } = await killAtRandom(Math.random);
      expect(content).to.deep.equal(expected);
      expect(backups).to.not.be.empty;
      expect(backups.every((name) => name.endsWith('.mdb'))).to.equal(true);
    }
  });
});
