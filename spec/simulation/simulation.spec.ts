import { expect } from 'chai';
import { report, type Run, simulate } from './simulation.ts';
import { seeds } from './seeds.ts';

/** `npm run test:sim` runs more of them. */
const RUNS = 20;

describe(`${RUNS} seeded runs of a backend on a simulated clock, disk and network`, function () {
  this.timeout(120_000);
  const runs: Run[] = [];

  before(async () => {
    for (const seed of seeds(RUNS)) runs.push(await simulate(seed));
  });

  const total = (count: (run: Run) => number): number => runs.reduce((sum, run) => sum + count(run), 0);

  it('store, alert, answer, acknowledge and handle exactly what the oracle predicts', () => {
    expect(runs.filter(({ differences }) => differences.length > 0).map(report)).to.deep.equal([]);
  });

  it('send the same check requests to two agents of one name', () => {
    expect(total(({ sharedRequests }) => sharedRequests)).to.be.greaterThan(RUNS / 2);
  });

  for (const event of [
    'silence: begin.reached',
    'silence: expiry.reached',
    'silence: check.resolved',
    'silence: entity.deleted',
    'silence: entity.deregistered',
    'connection: registration.refused',
  ]) {
    it(`record ${event}`, () => {
      expect(total(({ events }) => events.get(event) ?? 0)).to.be.greaterThan(0);
    });
  }

  it('include crashes, failures of the store and runs of handlers', () => {
    expect(total(({ crashes }) => crashes)).to.be.greaterThan(RUNS);
    expect(total(({ storeFailures }) => storeFailures)).to.be.greaterThan(RUNS / 2);
    expect(total(({ handlerRuns }) => handlerRuns)).to.be.greaterThan(10 * RUNS);
  });

  for (const transition of [
    'entity: registered -> warning',
    'entity: warning -> critical',
    'entity: critical -> registered',
    'entity: warning -> deregistered',
    'check-ttl: registered -> warning',
    'check-ttl: registered -> critical',
    'check-ttl: warning -> registered',
    'check-ttl: critical -> deregistered',
    'check-state: failing -> flapping',
    'check-state: flapping -> passing',
    'connection: registered -> critical',
    'connection: registered -> deregistered',
  ]) {
    it(`record ${transition}`, () => {
      expect(total(({ transitions }) => transitions.get(transition) ?? 0)).to.be.greaterThan(0);
    });
  }
});
