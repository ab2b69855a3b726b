import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import { FakeBackend } from '../../agent/fake-backend.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';

const IGNORED = ['SIGUSR2', 'SIGPIPE'] as const;

describe('spec/06 4.5: a signal that is ignored', () => {
  describe('by the backend', () => {
    const backend = perSuite(() => BackendProcess.start());
    const api = perSuite(() => backend.login());

    for (const signal of IGNORED) {
      it(`such as ${signal} ends nothing and writes no line`, async () => {
        const lines = backend.logs.length;
        process.kill(backend.pid, signal);
        for (const check of ['a', 'b']) {
          expect(await api.put(`/ns/default/events/p1/${check}`, proxyEvent('p1', check))).to.have.property(
            'status',
            200,
          );
        }
        expect(backend.logs.slice(lines)).to.deep.equal([]);
      });
    }
  });

  describe('by the agent', () => {
    const backend = perSuite(
      () => FakeBackend.start(),
      (fake) => fake.stop(),
    );
    const agent = perSuite(
      () => Promise.resolve(AgentProcess.start(backend.url, '--keepalive-interval', '1')),
      (program) => program.kill(),
    );
    const keepalives = (atLeast: number) =>
      eventually(
        () => backend.keepalives.length,
        (count) => count >= atLeast,
        { withinMs: 15_000 },
      );

    for (const signal of IGNORED) {
      it(`such as ${signal} ends nothing`, async () => {
        const before = await keepalives(1);
        agent.child.kill(signal);
        await keepalives(before + 2);
        expect(agent.isAlive).to.equal(true);
      });
    }
  });
});
