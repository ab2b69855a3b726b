import { join } from 'node:path';
import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import type { AgentClient } from '../../support/agent-client.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { HandlerSinks } from '../../support/handler-sinks.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const QUEUE = '8b7f1c9e-52d0-4a3f-9a51-2f6cf1b0e7d4';
const GRACE_MS = 900;
const LONG_MS = 3_600_000;

describe('an agent with --deregister that stops cleanly', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  const handlers = perTest(
    () => new HandlerSinks(api),
    (made) => made.close(),
  );
  const agents: AgentProcess[] = [];

  beforeEach(async () => {
    for (const name of ['registration', 'cmdb', 'keepalive']) await handlers.add(name);
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.kill();
  });

  /** Starts an agent and waits for its stored keepalive, number `times` of its entity. */
  async function start(times: number): Promise<AgentProcess> {
    const flags = ['--cache-dir', join(directory.path, 'cache'), '--deregister', '--deregistration-handler', 'cmdb'];
    const agent = AgentProcess.start(`ws://127.0.0.1:${backend.agentPort}`, ...flags);
    agents.push(agent);
    await eventually(
      async () => at(await api.event('tester', 'keepalive'), 'check', 'occurrences'),
      (occurrences) => occurrences === times,
      { what: `keepalive ${times}`, withinMs: 15_000 },
    );
    return agent;
  }

  const announced = async (): Promise<unknown> =>
    eventually(
      async () => (await api.ledger({ actor: 'agent', key: 'default/tester' })).map(({ event }) => event),
      (events) => events.includes('stop.announced'),
      { what: 'the announcement' },
    );

  /** The checks of the events that a handler has received so far. */
  async function handledBy(name: string): Promise<unknown[]> {
    const waiting = (): number => [...backend.store.keys('outbox', { from: '', to: '\uffff' })].length;
    await eventually(() => waiting() === 0, Boolean, { what: 'an empty outbox' });
    await backend.clock.settle();
    return handlers.of(name).map((event) => at(event, 'check', 'metadata', 'name'));
  }

  it('is deregistered within a second, with one event', async () => {
    const agent = await start(1);
    expect(await agent.stop()).to.equal(0);
    await announced();
    await backend.clock.advance(GRACE_MS - 1);
    expect(await api.entity('tester')).to.not.equal(undefined);
    await backend.clock.advance(1);
    expect(await api.entity('tester')).to.equal(undefined);
    expect(await handledBy('cmdb')).to.deep.equal(['deregistration']);
    await backend.downFor(LONG_MS);
    await backend.clock.advance(LONG_MS);
    expect(await handledBy('cmdb')).to.deep.equal(['deregistration']);
    expect(at(handlers.of('keepalive', 'tester').at(-1), 'check', 'status')).to.equal(0);
  });

  it('raises nothing when it restarts in that time', async () => {
    expect(await (await start(1)).stop()).to.equal(0);
    await announced();
    await start(2);
    await backend.clock.advance(10_000);
    expect(await api.entity('tester')).to.not.equal(undefined);
    expect(await handledBy('cmdb')).to.deep.equal([]);
    expect(await handledBy('registration')).to.deep.equal(['registration']);
  });

  it('is deregistered by a backend that is restarted meanwhile', async () => {
    expect(await (await start(1)).stop()).to.equal(0);
    await announced();
    await backend.downFor(LONG_MS);
    const again = await backend.login();
    expect(await again.entity('tester')).to.not.equal(undefined);
    await backend.clock.advance(GRACE_MS + 100);
    expect(await again.entity('tester')).to.equal(undefined);
    expect(await handledBy('cmdb')).to.deep.equal(['deregistration']);
  });

  describe('as the backend sees its messages', () => {
    const clients: AgentClient[] = [];
    afterEach(() => {
      for (const client of clients.splice(0)) client.terminate();
    });

    async function connect(queueId: string | undefined): Promise<AgentClient> {
      const client = await backend.connect({ name: 'web', ...(queueId === undefined ? {} : { queueId }) });
      clients.push(client);
      client.send('keepalive', keepalive('web', { entity: { deregister: true } }));
      await eventually(() => api.event('web', 'keepalive'), Boolean, { what: 'the keepalive' });
      return client;
    }

    it('keeps its entity while another agent of its name is connected', async () => {
      await connect(undefined);
      const second = await connect(QUEUE);
      second.sendRaw('agent_stop\n');
      await second.disconnect();
      await backend.clock.advance(10_000);
      expect(await api.entity('web')).to.not.equal(undefined);
    });

    it('rejects the message from an agent that asked for no acknowledgements', async () => {
      const client = await connect(undefined);
      client.sendRaw('agent_stop\n');
      await client.ping();
      await backend.clock.advance(10_000);
      expect(await api.entity('web')).to.not.equal(undefined);
      const { json } = await api.get('/api/mon/v1/sessions');
      expect(json).to.have.nested.property('[0].last_refusal.reason', 'unknown message type: agent_stop');
    });
  });
});
