import { createSocket } from 'node:dgram';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { FakeBackend } from '../fake-backend.ts';
import { InProcessAgent } from '../in-process-agent.ts';

const LISTENING = /^starting statsd server on address: 127\.0\.0\.1:(\d+)$/;

describe('the StatsD metrics of an agent that stops', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  beforeEach(async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url, '--statsd-flush-interval', '600');
    await backend.ready();
  });
  afterEach(async () => {
    await agent.kill();
    await backend.stop();
  });

  async function send(lines: string): Promise<void> {
    const port = await eventually(
      () => agent.log.map(({ msg }) => LISTENING.exec(String(msg))?.[1]).find((found) => found !== undefined),
      Boolean,
    );
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.send(lines, Number(port), '127.0.0.1', () => resolve()));
    socket.close();
    // Nothing says that a datagram was read.
    await wait(200);
  }

  it('are sent, although no flush was due', async () => {
    await send('sold:7|c\nqueue:3|g');
    expect(await agent.stop()).to.equal(0);
    const points = backend.events.flatMap(({ body }) => body.metrics?.points ?? []);
    expect(points.map(({ name }) => name)).to.deep.equal(['sold.value', 'sold.per_second', 'queue.value']);
    expect(points.map(({ value }) => value)).to.include.members([7, 3]);
  });

  it('include invalid lines only as a count, in one log line for each flush', async () => {
    await send('sold:x|c\nnonsense\nqueue:3|g');
    expect(await agent.stop()).to.equal(0);
    const warnings = agent.log.filter(({ msg }) => msg === 'dropped invalid StatsD lines');
    expect(warnings.map(({ level, dropped, example }) => [level, dropped, example])).to.deep.equal([
      ['warning', 2, 'sold:x|c'],
    ]);
  });

  it('cause no event when none have arrived', async () => {
    expect(await agent.stop()).to.equal(0);
    expect(backend.events).to.deep.equal([]);
  });
});
