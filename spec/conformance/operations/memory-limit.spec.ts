import { expect } from 'chai';
import type { MemorySource } from '../../../src/actors/supervision/memory-guard.ts';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { ApiClient } from '../../support/api-client.ts';
import { checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { scrape } from '../../support/scrape.ts';

const LIMIT_BYTES = 1_000_000_000;
/** Longer than the guard takes, and than the next commit. */
const LOOK_MS = 6_000;

describe('F18: a backend whose memory is nearly used up', () => {
  let usedBytes: number;
  let usedHeapBytes: number;
  let heapLimitBytes: number;
  const memory: MemorySource = {
    read: () => ({
      heap: { usedBytes: usedHeapBytes, limitBytes: heapLimitBytes },
      process: { usedBytes, limitBytes: LIMIT_BYTES },
    }),
    collect: () => undefined,
  };
  const backend = perTest(() => {
    usedBytes = 1;
    usedHeapBytes = 1;
    heapLimitBytes = LIMIT_BYTES;
    return RestartableBackend.start({ memory });
  });
  const api = perTest(() => backend.login());

  const put = async (check: string) => api.put(`/ns/default/events/p1/${check}`, proxyEvent('p1', check, {}));

  async function use(part: number): Promise<void> {
    usedBytes = part * LIMIT_BYTES;
    await backend.clock.advance(LOOK_MS);
  }

  it('answers changes with 503, serves reads and deletions, and accepts changes again', async () => {
    for (const check of ['a', 'b']) expect((await put(check)).status).to.equal(200);
    await use(0.9);
    const refused = await put('c');
    expect([refused.status, at(refused.json, 'message')]).to.deep.equal([503, 'memory is nearly used up']);
    expect(refused.headers['retry-after']).to.equal('1');
    expect(await api.event('p1', 'a')).to.not.equal(undefined);
    expect((await api.delete('/ns/default/events/p1/a')).status).to.equal(204);
    await use(0.5);
    expect((await put('c')).status).to.equal(200);
    expect(await api.event('p1', 'b')).to.not.equal(undefined);
  });

  it('keeps 10 MiB of a small heap free, of which a tenth would be too little for V8', async () => {
    heapLimitBytes = 50 * 2 ** 20;
    usedHeapBytes = 39 * 2 ** 20;
    await use(0);
    expect((await put('a')).status).to.equal(200);
    usedHeapBytes = 40.5 * 2 ** 20;
    await use(0);
    expect((await put('b')).status).to.equal(503);
    usedHeapBytes = 34 * 2 ** 20;
    await use(0);
    expect((await put('b')).status).to.equal(200);
  });

  it('refuses new agents with 503, and reads the connected ones again later, with all their events', async () => {
    const agent = await backend.connect({ name: 'a1' });
    agent.send('keepalive', keepalive('a1'));
    await agent.ping();
    await use(0.95);
    const outcome = await backend.connect({ name: 'a2' }).catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(HandshakeRefused).with.property('status', 503);
    agent.send('event', checkEvent('a1', 'c', { status: 2 }));
    await backend.clock.advance(LOOK_MS);
    expect(await api.event('a1', 'c')).to.equal(undefined);
    await use(0.5);
    await agent.ping();
    expect(await api.event('a1', 'c')).to.have.nested.property('check.status', 2);
    expect((await backend.connect({ name: 'a2' })).isOpen).to.equal(true);
  });

  it('reports that in /health, in the metrics and in the log, until there is memory', async () => {
    await use(0.9);
    const anybody = new ApiClient(backend.apiPort);
    const { json } = await anybody.get('/health');
    expect(at(json, 'Alarms', 0, 'alarm')).to.equal(3);
    expect(at(json, 'ClusterHealth', 0, 'Healthy')).to.equal(true);
    expect((await anybody.get('/health?strict=true')).status).to.equal(503);
    const full = await scrape(backend);
    expect(full.value('mon_memory_full', {})).to.equal(1);
    expect(full.value('mon_memory_used_bytes', { of: 'process' })).to.equal(0.9 * LIMIT_BYTES);
    expect(full.value('mon_memory_limit_bytes', { of: 'process' })).to.equal(LIMIT_BYTES);
    await use(0.5);
    expect((await anybody.get('/health')).json).to.have.property('Alarms', null);
    anybody.close();
    expect((await scrape(backend)).value('mon_memory_full', {})).to.equal(0);
    const levels = backend.log.lines.filter(({ msg }) => /memory/.test(msg)).map(({ level }) => level);
    expect(levels).to.deep.equal(['error', 'warn']);
  });
});
