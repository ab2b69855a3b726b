import { expect } from 'chai';
import { AgentProcess } from '../agent/agent-process.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { isRunning } from './is-running.ts';
import { pidsIn } from './pids-in.ts';

const START = { what: 'all processes', withinMs: 20_000 };
const END = { what: 'the end of all processes', withinMs: 10_000 };

/** Notes three processes, one of which ignores SIGTERM. */
const commandOf = (file: string): string =>
  `echo $$ >> ${file}; (trap '' TERM; while :; do sleep 1; done) & echo $! >> ${file}; sleep 600 & echo $! >> ${file}; wait`;

describe('commands of a program that is killed', function () {
  this.timeout(90_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => BackendProcess.start());

  async function begun(file: string): Promise<number[]> {
    return eventually(
      () => pidsIn(file),
      (pids) => pids.length === 3,
      START,
    );
  }

  it('end with all their processes: handlers of a backend', async () => {
    const api = await backend.login();
    const file = `${directory.path}/handler`;
    const handler = { metadata: { name: 'hangs', namespace: 'default' }, type: 'pipe', command: commandOf(file) };
    expect(await api.put('/ns/default/handlers/hangs', handler)).to.have.property('status', 201);
    await api.put('/ns/default/events/sw-1/port', proxyEvent('sw-1', 'port', { status: 1, handlers: ['hangs'] }));
    const pids = await begun(file);
    await backend.kill();
    await eventually(() => !pids.some(isRunning), Boolean, END);
  });

  it('end with all their processes: checks of an agent', async () => {
    const api = await backend.login();
    const file = `${directory.path}/check`;
    const check = {
      metadata: { name: 'hangs', namespace: 'default' },
      command: commandOf(file),
      subscriptions: ['linux'],
      interval: 3_600,
    };
    expect(await api.put('/ns/default/checks/hangs', check)).to.have.property('status', 201);
    const agent = AgentProcess.start(`ws://127.0.0.1:${backend.agentPort}`, '--subscriptions', 'linux');
    try {
      await eventually(() => api.entity('tester'), Boolean, { what: 'the agent', withinMs: 20_000 });
      await api.request({ method: 'POST', path: '/ns/default/checks/hangs/execute', body: { check: 'hangs' } });
      const pids = await begun(file);
      await agent.kill();
      await eventually(() => !pids.some(isRunning), Boolean, END);
    } finally {
      await agent.kill();
    }
  });
});
