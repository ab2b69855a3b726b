import { expect } from 'chai';
import { SeededRandom } from '../support/seeded-random.ts';
import { type CrashReport, crashRounds } from '../crash/crash-rounds.ts';

const ROUNDS = 200;
/** Backends with a store of their own that are killed side by side: while one starts, another has its load. */
const LINES = 2;
const ROUND_LIMIT_MS = 10_000;
/** Connections that put events, as many as the benchmark of one backend has. */
const HTTP_SENDERS = 64;

describe('a backend that is killed while events come in', function () {
  const random = SeededRandom.fresh();

  it(`F1: ${ROUNDS} times at a random instant, by ${HTTP_SENDERS} connections and by agents, has lost nothing that it promised (seed ${random.seed})`, async function () {
    this.timeout(ROUNDS * ROUND_LIMIT_MS);
    const line = (): Promise<CrashReport> => crashRounds(ROUNDS / LINES, () => random.next(), HTTP_SENDERS);
    const reports = await Promise.all(Array.from({ length: LINES }, line));
    expect(reports.flatMap(({ faults }) => faults)).to.deep.equal([]);
    for (const { rounds, acknowledged } of reports) expect(acknowledged).to.be.above(rounds * HTTP_SENDERS);
  });
});
