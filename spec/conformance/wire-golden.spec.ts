import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { play, readScenario } from '../support/golden-runner.ts';

const SCENARIOS = [
  'handshake-accepted',
  'handshake-refused',
  'listener-routes',
  'malformed',
  'entity-deleted',
  'large-message',
  'two-sessions',
  'agent-managed',
  'class-repair',
];

describe('recorded agent wire', () => {
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
    const scenario = readScenario(`wire/${name}.json`);
    it(`${scenario.scenario} is as it was recorded`, () => play(scenario, { agentPort: backend.agentPort, api }));
  }
});
