import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ApiUnderTest } from '../api-under-test.ts';

const NAMESPACE = '/api/core/v2/namespaces/default';
const SUMMARIES = '/api/mon/v1/namespaces/default/event-summaries';
const ENTITIES = '/api/mon/v1/namespaces/default/entity-summaries';
const NAMESPACES = '/api/mon/v1/namespace-summaries';
const PREVIEW = '/api/mon/v1/namespaces/default/silence-preview';

describe('summaries for lists', () => {
  const api = perTest(
    () => ApiUnderTest.start(),
    (started) => started.stop(),
  );

  for (const path of [SUMMARIES, ENTITIES, '/api/mon/v1/actors', '/api/mon/v1/sessions']) {
    for (const [query, message] of [
      ['limit=NaN', 'limit must be a whole number'],
      ['limit=1e3', 'limit must be a whole number'],
      ['continue=!', 'continue must be a value of Sensu-Continue'],
      ['continue=x', 'continue must be a value of Sensu-Continue'],
    ] as const) {
      it(`are refused at ${path} with ${query}, by the name of the parameter and its rule`, async () => {
        const { status, body } = await api.get(`${path}?${query}`);
        expect([status, at(body, 'message')]).to.deep.equal([400, message]);
      });
    }
  }

  async function put(entity: string, check: string, status: number, changes: object = {}): Promise<void> {
    const event = {
      entity: {
        entity_class: 'proxy',
        metadata: { name: entity, namespace: 'default', labels: { site: 'roof', password: 'hidden' } },
        subscriptions: ['net'],
      },
      check: {
        metadata: { name: check, namespace: 'default', labels: { team: 'ops' } },
        interval: 60,
        status,
        output: 'first line\nsecond line',
        executed: 100 + status,
        ...changes,
      },
    };
    const { status: answered, text } = await api.send({
      method: 'PUT',
      path: `${NAMESPACE}/events/${entity}/${check}`,
      body: event,
    });
    expect(answered, text).to.equal(200);
  }

  async function silence(entry: object): Promise<void> {
    const body = { metadata: { namespace: 'default' }, ...entry };
    const { status, text } = await api.send({ method: 'POST', path: `${NAMESPACE}/silenced`, body });
    expect(status, text).to.equal(201);
  }

  const namesOf = (body: unknown): string[] =>
    (body as { entity: string; check: string }[]).map(({ entity, check }) => `${entity}/${check}`);

  it('of events have one line of the output, the labels and the history', async () => {
    await put('a', 'disk', 0);
    await put('a', 'disk', 2);
    const { body } = await api.get(SUMMARIES);
    expect(at(body, 0)).to.deep.include({
      entity: 'a',
      check: 'disk',
      status: 2,
      state: 'failing',
      output: 'first line',
      labels: { site: 'roof', password: 'REDACTED', team: 'ops' },
      history: [0, 2],
      silenced: [],
      notifications: [],
    });
  });

  it('of open events leave out those that pass, and come in pages', async () => {
    for (const [index, status] of [2, 0, 1, 3, 0].entries()) await put(`e${index}`, 'disk', status);
    const first = await api.get(`${SUMMARIES}?state=open&limit=2`);
    expect(namesOf(first.body)).to.deep.equal(['e0/disk', 'e2/disk']);
    const next = String(first.headers['sensu-continue']);
    const second = await api.get(`${SUMMARIES}?state=open&limit=2&continue=${next}`);
    expect(namesOf(second.body)).to.deep.equal(['e3/disk']);
    expect(second.headers).to.not.have.property('sensu-continue');
  });

  it('of events are filtered by selectors in both states', async () => {
    for (const status of [1, 2]) await put(`e${status}`, 'disk', status);
    const query = `fieldSelector=${encodeURIComponent('event.check.status == "2"')}`;
    expect(namesOf((await api.get(`${SUMMARIES}?state=open&${query}`)).body)).to.deep.equal(['e2/disk']);
    expect(namesOf((await api.get(`${SUMMARIES}?${query}`)).body)).to.deep.equal(['e2/disk']);
  });

  it('of named events leave out those that do not exist', async () => {
    await put('a', 'disk', 1);
    expect(namesOf((await api.get(`${SUMMARIES}?event=a/disk&event=a/none`)).body)).to.deep.equal(['a/disk']);
    expect((await api.get(`${SUMMARIES}?event=a`)).body).to.include({ message: 'event must be <entity>/<check>' });
  });

  it('of events name the silences that apply now, also those made after the result', async () => {
    await put('a', 'disk', 2);
    await silence({ subscription: 'entity:a', check: 'disk' });
    expect(at((await api.get(SUMMARIES)).body, 0)).to.have.deep.property('silenced', ['entity:a:disk']);
  });

  it('of entities have their problems', async () => {
    await put('a', 'disk', 1);
    await put('a', 'load', 2);
    await put('b', 'disk', 0);
    const { body } = await api.get(ENTITIES);
    expect(at(body, 0)).to.deep.include({ name: 'a', problems: { count: 2, worst: 2, keepalive: 0 } });
    expect(at(body, 1)).to.deep.include({ name: 'b', problems: { count: 0, worst: 0, keepalive: 0 } });
  });

  it('of namespaces count their open events by status, and their agents by state', async () => {
    for (const [entity, status] of [
      ['a', 2],
      ['b', 2],
      ['c', 1],
      ['d', 7],
      ['e', 0],
    ] as const) {
      await put(entity, 'disk', status);
    }
    await api.put('namespaces', undefined, 'empty', { name: 'empty' });
    const { body } = await api.get(NAMESPACES);
    expect(body).to.deep.equal([
      { name: 'default', problems: { critical: 2, warning: 1, unknown: 1, flapping: 0 }, agents: {} },
      { name: 'empty', problems: { critical: 0, warning: 0, unknown: 0, flapping: 0 }, agents: {} },
    ]);
  });

  it('of namespaces show only what the caller may list', async () => {
    await api.put('namespaces', undefined, 'other', { name: 'other' });
    const token = await api.userWith('viewer', [
      { verbs: ['get', 'list'], resources: ['entities'], resource_names: [] },
    ]);
    const nobody = await api.userWith('nobody', []);
    const seenBy = async (token: string): Promise<unknown> =>
      (await api.send({ path: NAMESPACES, headers: { authorization: `Bearer ${token}` } })).body;
    expect(await seenBy(token)).to.deep.equal([
      { name: 'default', problems: null, agents: {} },
      { name: 'other', problems: null, agents: {} },
    ]);
    expect(await seenBy(nobody)).to.deep.equal([]);
  });

  it('of entities have no problems for a user who may not list events', async () => {
    await put('a', 'disk', 1);
    const token = await api.userWith('viewer', [{ verbs: ['list'], resources: ['entities'], resource_names: [] }]);
    const { body } = await api.send({ path: ENTITIES, headers: { authorization: `Bearer ${token}` } });
    expect(at(body, 0)).to.include({ name: 'a', problems: null });
  });

  describe('of a silence that does not exist yet', () => {
    it('list exactly the events that it silences once it exists', async () => {
      await put('a', 'disk', 2, { subscriptions: ['net'] });
      await put('b', 'disk', 1, { subscriptions: ['other'] });
      await put('c', 'load', 0, { proxy_entity_name: 'c' });
      for (const entry of [
        { subscription: 'net' },
        { check: 'disk' },
        { subscription: 'entity:b', check: 'disk' },
        { subscription: 'net', check: 'load' },
      ]) {
        const search = new URLSearchParams(Object.entries(entry)).toString();
        const preview = (await api.get(`${PREVIEW}?${search}`)).body as { name: string; events: object[] };
        await silence(entry);
        const silenced = ((await api.get(SUMMARIES)).body as { silenced: string[] }[]).filter((row) =>
          row.silenced.includes(preview.name),
        );
        expect(namesOf(preview.events), search).to.deep.equal(namesOf(silenced));
        expect(preview).to.have.property('count', silenced.length);
        await api.send({ method: 'DELETE', path: `${NAMESPACE}/silenced/${encodeURIComponent(preview.name)}` });
      }
    });

    it('reject one that names nothing', async () => {
      expect((await api.get(PREVIEW)).body).to.include({ message: 'must provide check or subscription' });
      expect((await api.get(`${PREVIEW}?begin=1`)).status).to.equal(400);
    });
  });
});
