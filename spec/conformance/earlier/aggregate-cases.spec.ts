import { expect } from 'chai';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

const NS = 'default';

describe('aggregates of the first generation', () => {
  const world = perTest(() => EarlierWorld.start());
  const summary = async (path: string): Promise<unknown> => (await world.core.get(`/aggregates/${path}`)).json;
  const names = async (): Promise<unknown[]> =>
    ((await world.core.get('/aggregates')).json as object[]).map((one) => at(one, 'name'));

  it('case 27: are absent without members', async () => {
    expect((await world.core.get('/aggregates')).json).to.deep.equal([]);
    for (const path of ['/aggregates/none', '/aggregates/none/clients', '/aggregates/none/checks']) {
      const { status, text } = await world.core.get(path);
      expect({ status, text }, path).to.deep.equal({ status: 404, text: '' });
    }
  });

  it('cases 28 and 33: count the results of a check that names them, and list their members', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    await world.result(NS, 'web-07', 'disk');
    await world.result(NS, 'web-08', 'disk', { status: 2 });
    expect(await summary('web')).to.deep.equal({
      clients: 2,
      checks: 1,
      results: { ok: 1, warning: 0, critical: 1, unknown: 0, total: 2, stale: 0 },
    });
    expect(await summary('web/clients')).to.deep.equal([
      { name: 'web-07', checks: ['disk'] },
      { name: 'web-08', checks: ['disk'] },
    ]);
    expect(await summary('web/checks')).to.deep.equal([{ name: 'disk', clients: ['web-07', 'web-08'] }]);
  });

  it('case 29: are those of the list, without the single one', async () => {
    await world.check(NS, 'disk', { aggregates: ['a', 'b'], aggregate: 'c' });
    await world.result(NS, 'web-07', 'disk');
    expect(await names()).to.deep.equal(['a', 'b']);
  });

  it('case 30: have the name of the check with true, and are none with an empty list', async () => {
    await world.check(NS, 'disk', { aggregate: true });
    await world.check(NS, 'http', { aggregates: [] });
    await world.result(NS, 'web-07', 'disk');
    await world.result(NS, 'web-07', 'http');
    expect(await names()).to.deep.equal(['disk']);
  });

  it('case 31: count every other status as unknown', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    await world.result(NS, 'web-07', 'disk', { status: 127, output: 'no such command' });
    expect(at(await summary('web'), 'results', 'unknown')).to.equal(1);
    expect(await summary('web/results/unknown')).to.deep.equal([
      { check: 'disk', summary: [{ output: 'no such command', total: 1, clients: ['web-07'] }] },
    ]);
  });

  it('case 32: leave out stale results', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    await world.result(NS, 'web-07', 'disk', { executed: world.backend.nowS - 128 });
    const counted = async (query: string) => {
      const { clients, results } = (await summary(`web${query}`)) as { clients: number; results: object };
      return { clients, total: at(results, 'total'), stale: at(results, 'stale') };
    };
    expect(await counted('?max_age=120')).to.deep.equal({ clients: 1, total: 0, stale: 1 });
    expect(await counted('?max_age=150')).to.deep.equal({ clients: 1, total: 1, stale: 0 });
    expect(await counted('?max_age=x')).to.deep.equal({ clients: 1, total: 1, stale: 0 });
  });

  it('case 35: are deleted without their results, and come back with the next one', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    await world.result(NS, 'web-07', 'disk');
    expect((await world.core.delete('/aggregates/web')).status).to.equal(204);
    expect((await world.core.get('/aggregates/web')).status).to.equal(404);
    expect((await world.core.get('/results/web-07/disk')).status).to.equal(200);
    await world.result(NS, 'web-07', 'disk');
    expect((await world.core.get('/aggregates/web')).status).to.equal(200);
  });

  it('case 36: lose the members of a deleted entity', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    for (const entity of ['web-07', 'web-08']) await world.result(NS, entity, 'disk');
    await world.admin.delete(`/ns/${NS}/entities/web-07`);
    expect(await summary('web')).to.deep.include({ clients: 1 });
  });

  it('case 37: list events that are not handled', async () => {
    const sink = await world.handler(NS, 'page');
    await world.check(NS, 'quiet', { handle: false });
    await world.result(NS, 'web-07', 'quiet', { status: 2, handlers: ['page'] });
    await world.result(NS, 'web-07', 'loud', { status: 2, handlers: ['page'] });
    await eventually(
      () => sink.events.length,
      (count) => count > 0,
      { what: 'the handled event' },
    );
    expect(sink.events.map((event) => at(event, 'check', 'metadata', 'name'))).to.deep.equal(['loud']);
    const { json } = await world.core.get('/events/web-07');
    expect((json as object[]).map((event) => at(event, 'check', 'name'))).to.deep.equal(['loud', 'quiet']);
  });

  it('case 38: are attributes of a check that come back as they were sent', async () => {
    const attributes = { aggregate: 'web', aggregates: ['a', 'b'], handle: false };
    await world.check(NS, 'disk', attributes);
    const { json } = await world.admin.get(`/ns/${NS}/checks/disk`);
    await world.admin.delete(`/ns/${NS}/checks/disk`);
    await world.admin.put(`/ns/${NS}/checks/disk`, json);
    expect((await world.admin.get(`/ns/${NS}/checks/disk`)).json).to.deep.include(attributes);
  });

  it('case 39: have the results of agents that do not know the attribute', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    const agent = await world.backend.connected({ name: 'web-07' });
    agent.send('keepalive', keepalive('web-07'));
    agent.send('event', checkEvent('web-07', 'disk', { status: 1 }));
    const found = await eventually(
      () => world.core.get('/aggregates/web'),
      ({ status }) => status === 200,
      { what: 'the member' },
    );
    expect(at(found.json, 'results', 'warning')).to.equal(1);
  });

  it('are ambiguous in two datacenters until one is named', async () => {
    for (const namespace of ['default', 'berlin']) {
      await world.check(namespace, 'disk', { aggregate: 'web' });
      await world.result(namespace, 'web-07', 'disk');
    }
    const { status, json } = await world.core.get('/aggregates/web');
    expect(status).to.equal(300);
    expect(json).to.deep.equal([
      { _id: 'berlin/web', dc: 'berlin', name: 'web', href: '/aggregates/web?dc=berlin' },
      { _id: 'default/web', dc: 'default', name: 'web', href: '/aggregates/web?dc=default' },
    ]);
    expect((await world.core.get('/aggregates/web?dc=berlin')).status).to.equal(200);
  });
});
