import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { play, readScenario } from '../support/golden-runner.ts';

const SCENARIOS = [
  'api-events',
  'first-event',
  'flapping-edge',
  'foreign',
  'invalid-events',
  'neighbours',
  'occurrences',
  'odd-events',
  'proxy',
  'seeded-backwards',
  'seeded-coin-flap',
  'seeded-dice',
  'seeded-many',
  'seeded-runs',
  'silence-at-once',
];

describe('recorded event state', () => {
  let backend: BackendProcess;
  let api: ApiClient;

  before(async () => {
    backend = await BackendProcess.start();
    api = await backend.login();
  });

  after(async () => {
    await backend.stop();
  });

  for (const name of SCENARIOS) {
    const scenario = readScenario(`state/${name}.json`);
    it(`${scenario.scenario} is as it was recorded`, () => play(scenario, { agentPort: backend.agentPort, api }));
  }
});
