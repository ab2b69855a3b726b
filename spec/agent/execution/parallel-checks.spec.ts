import { expect } from 'chai';
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
});
