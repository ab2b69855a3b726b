import { expect } from 'chai';
import { AgentProcess } from '../agent/agent-process.ts';
import { FakeBackend } from '../agent/fake-backend.ts';
import { perSuite } from '../support/fixture.ts';
import { readGolden } from '../support/golden-file.ts';
import { difference } from '../support/golden-match.ts';

interface Step {
  op: string;
  flags?: string[];
  request?: { config: { command: string; metadata?: object } };
  /** What the agent sent; `metrics`, which `mon-agent` does not read from outputs, is not compared. */
  expect?: { metrics?: unknown };
}

const { scenarios } = JSON.parse(readGolden('agent/05-tokens.json')) as {
  scenarios: { scenario: string; steps: Step[] }[];
};
/** Flags of parts that `mon-agent` does not have. */
const NO_FLAGS = new Set(['--disable-sockets', '--statsd-disable']);

for (const { scenario, steps } of scenarios) {
  describe(`the tokens of an agent as recorded: ${scenario}`, function () {
    this.timeout(30_000);
    const flags = steps.find(({ op }) => op === 'start')?.flags?.filter((flag) => !NO_FLAGS.has(flag)) ?? [];
    const backend = perSuite(
      () => FakeBackend.start(),
      (started) => started.stop(),
    );
    perSuite(
      () => Promise.resolve(new AgentProcess(['start', '--backend-url', backend.url, ...flags])),
      (agent) => agent.kill(),
    );
    let issued = Math.floor(Date.now() / 1_000);

    before(() => backend.ready());

    for (const [index, { request, expect: recorded }] of steps.entries()) {
      if (request === undefined || recorded === undefined) continue;
      const { config } = request;
      it(`give the recorded event: ${JSON.stringify(config.command)} (step ${index})`, async () => {
        const name = `c${index}`;
        const metadata = { ...config.metadata, name };
        const defaults = { interval: 60, subscriptions: ['x'], publish: true, handlers: [] };
        backend.requestCheck({ ...defaults, ...config, metadata }, (issued += 1));
        const [event] = await backend.eventsOf(name);
        const { metrics: _, ...expected } = recorded;
        expect(difference(expected, event?.body)).to.equal(undefined);
      });
    }
  });
}
