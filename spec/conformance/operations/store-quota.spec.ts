import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { scrape } from '../../support/scrape.ts';

const QUOTA_BYTES = 2 * 2 ** 20;
const LOOK_MS = 6_000;
const BIG = 'x'.repeat(100_000);
const HOUR_MS = 3_600_000;
/** Longer than filling the store takes. */
const TTL_S = 300;

describe('F13: a store that reaches its quota', function () {
  this.timeout(60_000);
  const backend = perTest(() =>
    RestartableBackend.start({ configure: (config) => ({ ...config, storeQuotaBytes: QUOTA_BYTES }) }),
  );
  const api = perTest(() => backend.login());

  const put = async (check: string, output = BIG) =>
    api.put(`/ns/default/events/p1/${check}`, proxyEvent('p1', check, { output }));

  /** Returns the number of events that were accepted before the store was full. */
  async function fill(): Promise<number> {
    for (let n = 0; ; n += 1) {
      const { status } = await put(`big-${n}`);
      if (status !== 200) {
        expect(status).to.equal(503);
        return n;
      }
      await backend.clock.advance(LOOK_MS);
    }
  }

  it('answers changes with 503 and why, and serves reads and deletions; every accepted event is stored', async () => {
    const accepted = await fill();
    expect(accepted).to.be.within(10, 25);
    const refused = await put('one-more', '');
    expect([refused.status, at(refused.json, 'message')]).to.deep.equal([503, 'store quota exceeded']);
    const handler = { metadata: { name: 'h', namespace: 'default' }, type: 'pipe', command: 'true' };
    expect((await api.post('/ns/default/handlers', handler)).status).to.equal(503);
    for (let n = 0; n < accepted; n += 1) expect(await api.event('p1', `big-${n}`)).to.not.equal(undefined);
    for (let n = 0; n < 5; n += 1) expect((await api.delete(`/ns/default/events/p1/big-${n}`)).status).to.equal(204);
    await backend.clock.advance(LOOK_MS);
    expect((await put('after', '')).status).to.equal(200);
  });

  it('has room again after an entity with so many events that they are deleted in steps', async () => {
    const small = 'x'.repeat(15_000);
    let accepted = 0;
    for (; (await put(`small-${accepted}`, small)).status === 200; accepted += 1) {
      if (accepted % 10 === 9) await backend.clock.advance(LOOK_MS);
    }
    expect(accepted).to.be.above(60);
    expect((await api.delete('/ns/default/entities/p1')).status).to.equal(204);
    await backend.clock.advance(10 * LOOK_MS);
    expect((await put('after', small)).status).to.equal(200);
  });

  it('starts again, and its alarm is in /health and in the log until there is room', async () => {
    await fill();
    await backend.downFor(LOOK_MS);
    const anybody = new ApiClient(backend.apiPort);
    const health = await anybody.get('/health');
    expect(health.status).to.equal(200);
    expect(at(health.json, 'Alarms', 0, 'alarm')).to.equal(1);
    expect(at(health.json, 'ClusterHealth', 0, 'Healthy')).to.equal(true);
    expect((await anybody.get('/health?strict=true')).status).to.equal(503);
    const metrics = await scrape(backend);
    expect(metrics.value('mon_store_quota_bytes', {})).to.equal(QUOTA_BYTES);
    const user = await backend.login();
    for (let n = 0; n < 5; n += 1) await user.delete(`/ns/default/events/p1/big-${n}`);
    await backend.clock.advance(LOOK_MS);
    expect((await anybody.get('/health')).json).to.have.property('Alarms', null);
    anybody.close();
    expect(backend.log.lines.map(({ msg }) => msg)).to.include('the store has nearly reached its quota');
  });

  it('holds events of agents and raises no false alert', async () => {
    const agent = await backend.connect({ name: 'a1' });
    agent.send('keepalive', keepalive('a1'));
    agent.send('event', checkEvent('a1', 'guarded', { interval: 10, ttl: TTL_S }));
    await agent.ping();
    await fill();
    await backend.clock.advance(30_000);
    agent.send('event', checkEvent('a1', 'guarded', { interval: 10, ttl: TTL_S, status: 2 }));
    await backend.clock.advance((TTL_S + 60) * 1_000);
    expect(await api.event('a1', 'guarded')).to.have.nested.property('check.status', 0);
  });

  it('has metrics of the disk, and a forecast in days while it grows', async () => {
    for (let n = 0; n < 3; n += 1) {
      await put(`slow-${n}`);
      await backend.clock.advance(HOUR_MS);
    }
    const metrics = await scrape(backend);
    expect(metrics.value('mon_store_disk_free_bytes', {})).to.be.above(0);
    expect(metrics.value('mon_store_days_left', {})).to.be.within(0.1, 5);
  });
});

describe('a store without a quota that does not grow', () => {
  const backend = perTest(() => RestartableBackend.start());

  it('has no quota and no forecast in its metrics', async () => {
    const { families } = await scrape(backend);
    for (const name of ['mon_store_quota_bytes', 'mon_store_days_left']) {
      expect(families.get(name)?.samples, name).to.deep.equal([]);
    }
    expect(families.get('mon_store_disk_free_bytes')?.samples).to.have.length(1);
  });
});
