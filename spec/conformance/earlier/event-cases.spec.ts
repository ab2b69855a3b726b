import { expect } from 'chai';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

const DISK = '/events/web-07/disk';

describe('events of the first generation', () => {
  const world = perTest(() => EarlierWorld.start());

  const first = async (): Promise<unknown> => at((await world.core.get('/events')).json, 0);
  const failing = (status = 2): Promise<void> => world.result('berlin', 'web-07', 'disk', { status, output: 'full' });

  it('case 1: are an empty list while nothing fails', async () => {
    await world.result('berlin', 'web-07', 'http');
    const { status, headers, text } = await world.core.get('/events');
    expect({ status, text }).to.deep.equal({ status: 200, text: '[]' });
    expect(headers['content-type']).to.equal('application/json');
  });

  it('case 2: have an id of datacenter, client and check', async () => {
    await failing();
    const { json } = await world.core.get('/events');
    expect(json).to.have.lengthOf(1);
    expect(at(json, 0)).to.include({ _id: 'berlin/web-07/disk', dc: 'berlin', action: 'create' });
  });

  it('case 3: have a history of texts that ends with the status', async () => {
    for (const status of [0, 1, 2]) await failing(status);
    const history = at(await first(), 'check', 'history') as unknown[];
    expect(history).to.deep.equal(['0', '1', '2']);
  });

  it('case 4: are not passing checks, whose results have numbers', async () => {
    await world.result('berlin', 'web-07', 'http');
    expect((await world.core.get('/events')).json).to.deep.equal([]);
    const { json } = await world.core.get('/results/web-07');
    expect(at(json, 0, 'check')).to.deep.include({ name: 'http', status: 0, history: [0] });
  });

  it('case 5: are not metrics without a check', async () => {
    const points = [{ name: 'load', value: 1, timestamp: world.backend.nowS, tags: [] }];
    const entity = { entity_class: 'proxy', metadata: { name: 'web-07', namespace: 'berlin' } };
    await world.admin.post('/ns/berlin/events', { entity, metrics: { handlers: [], points } });
    expect((await world.core.get('/events')).json).to.deep.equal([]);
  });

  it('case 6: name their silences from the moment of the silence', async () => {
    await world.result('berlin', 'web-07', 'disk', { status: 2, subscriptions: ['web'] });
    expect(await first()).to.include({ silenced: false, silenced_by: null });
    const entity = { metadata: { name: 'web-07', namespace: 'berlin' }, entity_class: 'proxy', subscriptions: ['web'] };
    await world.admin.put('/ns/berlin/entities/web-07', entity);
    await world.result('berlin', 'web-07', 'disk', { status: 2, subscriptions: ['web'] });
    await world.core.post('/silenced', { subscription: 'web', check: 'disk', dc: 'berlin' });
    expect(await first()).to.deep.include({ silenced: true, silenced_by: ['web:disk'] });
  });

  it('case 7: show the silence of a client as the first generation names it', async () => {
    await failing();
    const silence = { metadata: { name: 'entity:web-07:*', namespace: 'berlin' }, subscription: 'entity:web-07' };
    await world.admin.put('/ns/berlin/silenced/entity:web-07:*', silence);
    expect(await first()).to.deep.include({ silenced_by: ['client:web-07:*'] });
    expect(at(await first(), 'client', 'silenced')).to.equal(true);
  });

  it('case 8: count the equal statuses in a row, and remember the most', async () => {
    for (const status of [0, 1, 1, 2, 2, 2]) await failing(status);
    expect(await first()).to.include({ occurrences: 3, occurrences_watermark: 3 });
    await failing(1);
    expect(await first()).to.include({ occurrences: 1, occurrences_watermark: 3 });
  });

  it('case 9: keep their id until they pass', async () => {
    const ids: unknown[] = [];
    for (const status of [1, 2, 1]) {
      await failing(status);
      ids.push(at(await first(), 'id'));
    }
    expect(new Set(ids)).to.have.lengthOf(1);
    await failing(0);
    await failing(1);
    expect(at(await first(), 'id')).to.not.equal(ids[0]);
  });

  it('case 10: have the time of the last change of their status', async () => {
    const changes: unknown[] = [];
    for (const status of [1, 1, 2]) {
      await failing(status);
      changes.push(at(await first(), 'last_state_change'));
      await world.backend.clock.advance(5_000);
    }
    expect(changes[1]).to.equal(changes[0]);
    expect(changes[2]).to.equal(Number(changes[0]) + 10);
  });

  it('case 11: have no last success when they never passed', async () => {
    await failing();
    expect(at(await first(), 'last_ok')).to.equal(null);
  });

  it('cases 12 and 13: are resolved by DELETE, and passing in the REST API', async () => {
    await failing();
    const { status, json } = await world.core.delete(DISK);
    expect(status).to.equal(202);
    expect(at(json, 'issued')).to.equal(world.backend.nowS);
    expect((await world.core.get('/events')).json).to.deep.equal([]);
    const event = await world.admin.event('web-07', 'disk', 'berlin');
    expect(at(event, 'check')).to.deep.include({
      status: 0,
      output: 'Resolving on request of the API',
      state: 'passing',
    });
  });

  it('case 14: reach a handler once when they are resolved', async () => {
    const sink = await world.handler('berlin', 'page');
    await world.result('berlin', 'web-07', 'disk', { status: 2, handlers: ['page'] });
    await eventually(
      () => sink.events.length,
      (count) => count === 1,
      { what: 'the alert' },
    );
    await world.core.delete(DISK);
    await eventually(
      () => sink.events.length,
      (count) => count === 2,
      { what: 'the resolution' },
    );
    expect(at(sink.events[1], 'check', 'status')).to.equal(0);
    expect((await world.core.delete(DISK)).status).to.equal(404);
    expect(sink.events).to.have.lengthOf(2);
  });

  for (const [number, path] of [
    [15, '/events/web-07/http'],
    [16, '/events/nobody/disk'],
  ] as const) {
    it(`case ${number}: cannot be resolved where nothing fails: ${path}`, async () => {
      await failing();
      await world.result('berlin', 'web-07', 'http');
      const { status, text } = await world.core.delete(path);
      expect({ status, text }).to.deep.equal({ status: 404, text: '' });
    });
  }

  it('cases 17 and 18: are ambiguous in two datacenters until one is named', async () => {
    await failing();
    await world.result('default', 'web-07', 'disk', { status: 1 });
    const ambiguous = await world.core.delete(DISK);
    expect(ambiguous.status).to.equal(300);
    expect((ambiguous.json as object[]).map((one) => at(one, 'dc'))).to.deep.equal(['berlin', 'default']);
    expect((await world.core.get('/events')).json).to.have.lengthOf(2);
    expect((await world.core.delete(`${DISK}?dc=berlin`)).status).to.equal(202);
    const { json } = await world.core.get('/events');
    expect((json as object[]).map((one) => at(one, '_id'))).to.deep.equal(['default/web-07/disk']);
  });

  it('case 19: are not ambiguous when the check fails in one datacenter only', async () => {
    await failing();
    await world.result('default', 'web-07', 'disk');
    expect((await world.core.delete(DISK)).status).to.equal(202);
  });

  it('case 20: are not in a datacenter that does not exist', async () => {
    await failing();
    expect((await world.core.delete(`${DISK}?dc=nowhere`)).status).to.equal(404);
    expect((await world.dashboard.get('/events?dc=nowhere')).status).to.equal(404);
  });

  it('case 21: are resolved by POST /resolve', async () => {
    await failing();
    for (const [body, status] of [
      ['{"client":"web-07"}', 400],
      ['[]', 400],
      ['{', 400],
      ['{"client":"web-07","check":"none"}', 404],
      ['{"client":"web-07","check":"disk"}', 202],
    ] as const) {
      const answer = await world.core.send({ method: 'POST', path: '/resolve', text: body });
      expect(answer.status, body).to.equal(status);
    }
  });

  it('are the same on both listeners', async () => {
    await failing();
    const [core, dashboard] = await Promise.all([world.core.get('/events'), world.dashboard.get('/events')]);
    expect(dashboard.json).to.deep.equal(core.json);
  });
});
