import { expect } from 'chai';
import { StatsD } from 'hot-shots';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { InProcessAgent } from '../in-process-agent.ts';
import { FakeBackend } from '../fake-backend.ts';

interface Point {
  name: string;
  value: number;
  timestamp: number;
  tags: { name: string; value: string }[];
}

describe('a StatsD client library at an agent', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;
  let client: StatsD;

  beforeEach(async () => {
    backend = await FakeBackend.start();
    const port = await freePort();
    const flags = ['--statsd-flush-interval', '1', '--statsd-event-handlers', 'graphite,influx'];
    agent = InProcessAgent.start(backend.url, '--statsd-metrics-port', String(port), ...flags);
    await backend.ready();
    client = new StatsD({ host: '127.0.0.1', port, prefix: 'shop.', globalTags: { env: 'test' } });
  });
  afterEach(async () => {
    client.close(() => undefined);
    await agent.kill();
    await backend.stop();
  });

  const metricEvents = () =>
    backend.events.filter(({ body }) => (body as { metrics?: unknown }).metrics !== undefined).map(({ body }) => body);
  const points = (): Point[] => metricEvents().flatMap((event) => (event.metrics?.points ?? []) as unknown as Point[]);
  const sumOf = (name: string): number =>
    points()
      .filter((point) => point.name === name)
      .reduce((sum, { value }) => sum + value, 0);
  const lastOf = (name: string): Point | undefined => points().findLast((point) => point.name === name);

  it('has its counters, gauges, sets and timers in events with the configured handlers', async () => {
    for (let sold = 0; sold < 100; sold += 1) client.increment('sold');
    client.decrement('stock', 3);
    client.gauge('queue', 7.5, { shard: 'a' });
    for (const user of ['ann', 'bob', 'ann']) client.unique('users', user);
    for (const ms of [10, 20, 30]) client.timing('pay', ms);
    await eventually(() => sumOf('shop.sold.value') === 100 && sumOf('shop.pay.count') === 3, Boolean, {
      what: 'all counts',
      withinMs: 10_000,
    });
    expect(sumOf('shop.stock.value')).to.equal(-3);
    expect(lastOf('shop.queue.value')?.value).to.equal(7.5);
    expect(lastOf('shop.queue.value')?.tags).to.deep.equal([
      { name: 'env', value: 'test' },
      { name: 'shard', value: 'a' },
      { name: 's', value: '127.0.0.1' },
    ]);
    // A flush between two values counts one of them twice.
    expect(sumOf('shop.users.value')).to.be.within(2, 3);
    const uppers = points().filter(({ name }) => name === 'shop.pay.percentile_upper_90');
    expect(Math.max(...uppers.map(({ value }) => value))).to.equal(30);
    const [event] = metricEvents();
    expect(event?.metrics?.handlers).to.deep.equal(['graphite', 'influx']);
    expect(event).to.not.have.property('check');
  });

  it('loses nothing when it sends buffered datagrams of several lines', async () => {
    const { port } = client as unknown as { port: number };
    const buffered = new StatsD({ host: '127.0.0.1', port, maxBufferSize: 1_400, bufferFlushInterval: 50 });
    for (let hit = 0; hit < 5_000; hit += 1) buffered.increment(`page.${hit % 10}`);
    await new Promise<void>((resolve) => buffered.close(() => resolve()));
    const total = (): number =>
      Array.from({ length: 10 }, (_, page) => sumOf(`page.${page}.value`)).reduce((a, b) => a + b);
    await eventually(() => total() === 5_000, Boolean, { what: 'all hits', withinMs: 10_000 });
  });
});
