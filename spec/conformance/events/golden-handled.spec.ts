import { itReplaysInParallel } from '../../support/golden-parallel.ts';
import { play, readScenario } from '../../support/golden-runner.ts';
import { RealTimeBackend } from '../../support/real-time-backend.ts';

const SCENARIOS = [
  'state/registration',
  'state/keepalive-missing',
  'state/deregister',
  'state/silences',
  'state/expire-on-resolve',
  'state/truncation',
  'state/ttl',
  'state/whole-event',
  'wire/before-registration',
  'wire/session-json',
  'wire/session-protobuf',
];

describe('recorded events at their handlers', function () {
  this.timeout(90_000);

  /** The scenarios create handlers of the same names, so each has its own backend. */
  itReplaysInParallel(SCENARIOS, async (name) => {
    const backend = await RealTimeBackend.start();
    try {
      await play(readScenario(`${name}.json`), { agentPort: backend.agentPort, api: await backend.login() });
    } finally {
      await backend.stop();
    }
  });
});
