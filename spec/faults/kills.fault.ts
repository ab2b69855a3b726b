import { expect } from 'chai';
import { SeededRandom } from '../support/seeded-random.ts';
import { type CrashReport, crashRounds } from '../crash/crash-rounds.ts';

const ROUNDS = 200;
/** Number of backends, each with its own store, that are killed in parallel: while one starts, the other is under load. */
const BACKENDS = 2;
const ROUND_LIMIT_MS = 10_000;
/** Connections that put events, as in the benchmark of one backend. */
const HTTP_SENDERS = 64;

describe('a backend that is killed while events arrive', function () {
  const random = SeededRandom.fresh();

  it(`F1: loses no acknowledged event of ${HTTP_SENDERS} connections and of agents in ${ROUNDS} kills at random instants (seed ${random.seed})`, async function () {
    this.timeout(ROUNDS * ROUND_LIMIT_MS);
    const killed = (): Promise<CrashReport> => crashRounds(ROUNDS / BACKENDS, () => random.next(), HTTP_SENDERS);
    const reports = await Promise.all(Array.from({ length: BACKENDS }, killed));
    expect(reports.flatMap(({ errors }) => errors)).to.deep.equal([]);
    for (const { rounds, acknowledged } of reports) expect(acknowledged).to.be.above(rounds * HTTP_SENDERS);
  });
});
