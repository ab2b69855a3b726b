import { expect } from 'chai';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

const NS = 'default';

/** What the API of the first generation has beyond it. Source: spec/05 12. */
describe('the API of the first generation, improved', () => {
  const world = perTest(() => EarlierWorld.start());

  it('answers 304 to a client that has a list, until the list changes', async () => {
    await world.result(NS, 'web-07', 'disk', { status: 2 });
    for (const client of [world.core, world.dashboard]) {
      const { headers, json } = await client.get('/events?limit=5');
      expect(json).to.have.lengthOf(1);
      const tag = String(headers['etag']);
      const again = await client.get('/events?limit=5', { 'If-None-Match': tag });
      expect(again).to.deep.include({ status: 304, text: '' });
      expect(again.headers).to.include({ etag: tag, 'x-pagination': '{"limit":5,"offset":0,"total":1}' });
      expect((await client.get('/events', { 'If-None-Match': '"other"' })).status).to.equal(200);
    }
    const { headers } = await world.core.get('/events');
    await world.result(NS, 'web-07', 'disk', { status: 1 });
    expect((await world.core.get('/events', { 'If-None-Match': String(headers['etag']) })).status).to.equal(200);
  });

  it('names the addresses of the choices of a 300', async () => {
    for (const namespace of [NS, 'berlin']) await world.result(namespace, 'web-07', 'disk', { status: 2 });
    const path = '/events/web-07/disk';
    const { status, json } = await world.core.send({ method: 'DELETE', path });
    expect(status).to.equal(300);
    const hrefs = (json as object[]).map((choice) => at(choice, 'href'));
    expect(hrefs).to.deep.equal([`${path}?dc=berlin`, `${path}?dc=default`]);
    expect((await world.core.send({ method: 'DELETE', path: String(hrefs[0]) })).status).to.equal(202);
    expect((await world.core.get(path)).status).to.equal(200);
    expect(at((await world.core.get(path)).json, 'dc')).to.equal('default');
  });

  it('distinguishes an unknown client from one without events when it is strict', async () => {
    await world.result(NS, 'web-07', 'disk');
    expect((await world.core.get('/events/nobody')).json).to.deep.equal([]);
    expect((await world.core.get('/events/nobody?strict=true')).status).to.equal(404);
    expect((await world.core.get('/events/web-07?strict=true')).json).to.deep.equal([]);
  });

  it('describes an error to a client that requests it', async () => {
    const headers = { Accept: 'application/json', 'X-Errors': 'verbose' };
    const verbose = await world.core.get('/aggregates/web/results/bad', headers);
    expect(verbose.status).to.equal(400);
    expect(verbose.json).to.deep.equal({ error: 'severity must be one of ok, warning, critical, unknown' });
    expect((await world.core.get('/checks/none', headers)).json).to.deep.equal({ error: 'not found' });
    expect((await world.core.get('/checks/none', { Accept: 'application/json' })).text).to.equal('');
    expect((await world.core.get('/checks/none', { 'X-Errors': 'verbose', Accept: 'text/plain' })).text).to.equal('');
  });

  it('is marked as deprecated, and counts its requests', async () => {
    for (const path of ['/events', '/unknown']) {
      for (const client of [world.core, world.dashboard]) await client.get(path);
      expect((await world.core.get(path)).headers).to.include({ deprecation: 'true' });
    }
    const { text } = await world.admin.get('/metrics');
    expect(text).to.include('mon_legacy_api_requests_total{port="core",route="GET /events",status="200"} 2');
    expect(text).to.include('mon_legacy_api_requests_total{port="core",route="unknown",status="404"} 2');
    expect(text).to.include('mon_legacy_api_requests_total{port="dashboard",route="GET /events",status="200"} 1');
  });

  describe('shows of an aggregate', () => {
    const put = async (): Promise<void> => {
      const { nowS } = world.backend;
      await world.check(NS, 'disk', { aggregate: 'web' });
      await world.result(NS, 'web-07', 'disk', { executed: nowS - 128 });
      await world.result(NS, 'web-08', 'disk', { status: 2 });
      await world.result(NS, 'web-09', 'disk');
    };

    it('percentages on request', async () => {
      await put();
      const summary = (await world.core.get('/aggregates/web?percent=true')).json;
      expect(at(summary, 'percent')).to.deep.equal({ ok: 66.67, warning: 0, critical: 33.33, unknown: 0, stale: 0 });
      const aged = (await world.core.get('/aggregates/web?percent=true&max_age=120')).json;
      expect(at(aged, 'percent')).to.deep.equal({ ok: 50, warning: 0, critical: 50, unknown: 0, stale: 33.33 });
      expect((await world.core.get('/aggregates/web')).json).to.not.have.property('percent');
    });

    it('no members any more that were stale when they were pruned', async () => {
      await put();
      const prune = (query: string) => world.core.send({ method: 'DELETE', path: `/aggregates/web?${query}` });
      for (const query of ['prune=stale', 'prune=all&max_age=1', 'prune=stale&max_age=x']) {
        expect((await prune(query)).status, query).to.equal(400);
      }
      expect((await prune('prune=stale&max_age=120')).status).to.equal(204);
      expect((await world.core.get('/aggregates/web/clients')).json).to.deep.equal([
        { name: 'web-08', checks: ['disk'] },
        { name: 'web-09', checks: ['disk'] },
      ]);
      expect((await world.core.get('/results/web-07/disk')).status).to.equal(200);
      expect((await prune('prune=stale&max_age=120')).status).to.equal(204);
      expect(
        (await world.core.send({ method: 'DELETE', path: '/aggregates/none?prune=stale&max_age=1' })).status,
      ).to.equal(404);
    });
  });

  it('deletes the results and the history of a check, and leaves its open events', async () => {
    await world.check(NS, 'disk', { aggregate: 'web' });
    for (const status of [0, 1, 2]) await world.result(NS, 'web-07', 'disk', { status });
    await world.result(NS, 'web-08', 'disk');
    const { id } = (await world.core.get('/events/web-07/disk')).json as { id: string };
    expect((await world.core.send({ method: 'DELETE', path: '/checks/disk' })).status).to.equal(202);
    for (const client of ['web-07', 'web-08']) {
      expect((await world.core.get(`/results/${client}/disk`)).status).to.equal(404);
      expect((await world.core.get(`/clients/${client}/history`)).json).to.deep.equal([]);
    }
    expect((await world.core.get('/results')).json).to.deep.equal([]);
    expect((await world.core.get('/aggregates/web')).status).to.equal(404);
    expect((await world.core.get('/events/web-07/disk')).json).to.deep.include({ id, dc: NS });
    expect((await world.core.get('/events/web-08/disk')).status).to.equal(404);
    // The next failure goes on with the incident, and begins a new history.
    await world.result(NS, 'web-07', 'disk', { status: 2 });
    const { json } = await world.core.get('/events/web-07/disk');
    expect(json).to.deep.include({ id });
    expect(at(json, 'check', 'history')).to.deep.equal(['2', '2']);
    expect((await world.core.get('/results/web-07/disk')).status).to.equal(200);
    expect((await world.core.get('/aggregates/web')).status).to.equal(200);
  });
});
