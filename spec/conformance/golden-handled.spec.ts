import { BackendProcess } from '../support/backend-process.ts';
import { play, readScenario } from '../support/golden-runner.ts';

/** They make handlers of the same names, so that each has a backend of its own; their waits pass side by side. */
const SCENARIOS = [
  'state/registration',
  'state/keepalive-missing',
  'state/deregister',
  'state/truncation',
  'state/whole-event',
  'wire/before-registration',
  'wire/session-json',
  'wire/session-protobuf',
];

describe('recorded events at their handlers', function () {
  this.timeout(90_000);
  const outcomes = new Map<string, Promise<unknown>>();

  /** Resolves with what went wrong, so that a failure waits for its own test. */
  async function outcome(name: string): Promise<unknown> {
    const backend = await BackendProcess.start();
    try {
      await play(readScenario(`${name}.json`), { agentPort: backend.agentPort, api: await backend.login() });
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await backend.stop();
    }
  }

  before(() => {
    for (const name of SCENARIOS) outcomes.set(name, outcome(name));
  });

  after(() => Promise.all(outcomes.values()));

  for (const name of SCENARIOS) {
    it(`${name} is as it was recorded`, async () => {
      const failure = await outcomes.get(name);
      if (failure instanceof Error) throw failure;
    });
  }
});
