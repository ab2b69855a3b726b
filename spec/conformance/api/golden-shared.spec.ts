import { BackendProcess } from '../../support/backend-process.ts';
import { perSuite } from '../../support/fixture.ts';
import { play, readScenario } from '../../support/golden-runner.ts';

/** Their names differ, so they share a backend; none of them waits. */
const SCENARIOS = [
  'state/api-events',
  'state/first-event',
  'state/flapping-edge',
  'state/foreign',
  'state/invalid-events',
  'state/neighbours',
  'state/occurrences',
  'state/odd-events',
  'state/proxy',
  'state/seeded-backwards',
  'state/seeded-coin-flap',
  'state/seeded-dice',
  'state/seeded-many',
  'state/seeded-runs',
  'state/silence-at-once',
  'wire/handshake-accepted',
  'wire/handshake-refused',
  'wire/handshake-rights',
  'wire/check-request-parts',
  'wire/listener-routes',
  'wire/malformed',
  'wire/entity-deleted',
  'wire/large-message',
  'wire/two-sessions',
  'wire/agent-managed',
  'wire/class-repair',
];

describe('recorded agents and their events', () => {
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());

  for (const name of SCENARIOS) {
    const scenario = readScenario(`${name}.json`);
    it(`behave as recorded: ${name}`, () => play(scenario, { agentPort: backend.agentPort, api }));
  }
});
