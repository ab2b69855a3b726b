import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { InProcessAgent } from '../in-process-agent.ts';
import { FakeBackend } from '../fake-backend.ts';

describe('an agent with --max-parallel-checks 1', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  before(async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url, '--max-parallel-checks', '1');
    await backend.ready();
  });

  after(async () => {
    await agent.kill();
    await backend.stop();
  });

  it('runs checks one after the other, and times each from its own start', async () => {
    for (const name of ['first', 'second']) {
      backend.requestCheck({ metadata: { name }, command: 'date +%s.%N; sleep 0.7; date +%s.%N', timeout: 5 }, 1);
    }
    const [first] = await backend.eventsOf('first');
    const [second] = await backend.eventsOf('second');
    const timesOf = (output: unknown): number[] => String(output).trim().split('\n').map(Number);
    const [, firstEndS = 0] = timesOf(first?.body.check.output);
    const [secondStartS = 0] = timesOf(second?.body.check.output);
    expect(secondStartS).to.be.at.least(firstEndS);
    expect(second?.body.check.duration).to.be.within(0.7, 2);
  });

  it('does not begin checks that wait for their turn when it stops', async () => {
    const request = (name: string) => {
      backend.requestCheck({ metadata: { name }, command: 'sleep 0.5; echo done', timeout: 5 }, 2);
    };
    request('running');
    request('waiting');
    const scheduled = (): number => agent.log.filter(({ msg }) => String(msg).includes('scheduling check')).length;
    await eventually(() => scheduled() === 4);
    expect(await agent.stop()).to.equal(0);
    expect(backend.events.map(({ body }) => body.check.metadata.name)).to.deep.equal(['first', 'second', 'running']);
    const refused = agent.log.filter(({ error }) => error === 'agent is stopping').map(({ check }) => check);
    expect(refused).to.deep.equal(['waiting']);
  });
});
