import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { InProcessAgent } from '../in-process-agent.ts';
import { FakeBackend } from '../fake-backend.ts';

describe('an agent that stops', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  afterEach(async () => {
    await agent.kill();
    await backend.stop();
  });

  /** The types of the messages after the keepalive. */
  async function stopAtBackend(
    options: Parameters<typeof FakeBackend.start>[0],
    ...flags: string[]
  ): Promise<string[]> {
    backend = await FakeBackend.start(options);
    agent = InProcessAgent.start(backend.url, ...flags);
    const session = await backend.ready();
    expect(await agent.stop()).to.equal(0);
    expect(session.closed).to.deep.equal({ code: 1001, reason: 'bye' });
    return session.frames.map(({ type }) => type).filter((type) => type !== 'keepalive');
  }

  it('announces its stop to a backend that offered acknowledgements, when its entity is to be deregistered', async () => {
    expect(await stopAtBackend({}, '--deregister')).to.deep.equal(['agent_stop']);
  });

  it('announces nothing to another backend', async () => {
    expect(await stopAtBackend({ acknowledges: false }, '--deregister')).to.deep.equal([]);
  });

  it('announces nothing without --deregister', async () => {
    expect(await stopAtBackend({})).to.deep.equal([]);
  });

  it('follows the setting that the backend has stored', async () => {
    const metadata = { name: 'tester', namespace: 'default' };
    const entityConfig = { metadata, entity_class: 'agent', deregister: true };
    expect(await stopAtBackend({ entityConfig })).to.deep.equal(['agent_stop']);
  });

  it('announces nothing when it changes to another connection', async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url, '--deregister', '--max-session-length', '1s', '--retry-min', '100ms');
    const first = await backend.ready();
    await eventually(() => backend.sessions.length === 2, Boolean, { withinMs: 10_000 });
    expect(first.closed).to.deep.equal({ code: 1001, reason: 'bye' });
    expect(first.frames.map(({ type }) => type)).to.not.include('agent_stop');
  });
});
