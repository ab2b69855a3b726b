import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const DEFAULT = '/api/core/v2/namespaces/default';
const CHECK = { interval: 10, command: 'true', metadata: { name: 'c', namespace: 'default' } };
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

describe('a request that the reference accepts', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    for (const name of ['a', 'b']) {
      const { status } = await api.send({
        method: 'PUT',
        path: `${DEFAULT}/entities/${name}`,
        body: { entity_class: 'proxy' },
      });
      expect(status).to.equal(200);
    }
    expect((await api.send({ method: 'PUT', path: `${DEFAULT}/checks/c`, body: CHECK })).status).to.equal(201);
  });

  const patch = (path: string, body: unknown): Promise<Reply> =>
    api.send({ method: 'PATCH', path: DEFAULT + path, headers: MERGE_PATCH, body });

  for (const ignored of [
    { system: { processes: false } },
    { system: { network: { interfaces: {} } } },
    { system: { network: { interfaces: [1] } } },
    { system: 'x', last_seen: 'y', sensu_agent_version: {} },
  ]) {
    it(`changes no reported state of an entity by the patch ${JSON.stringify(ignored)}`, async () => {
      const before = (await api.get(`${DEFAULT}/entities/a`)).body;
      const { status, body } = await patch('/entities/a', ignored);
      expect(status).to.equal(200);
      expect(body).to.not.have.any.keys('system', 'last_seen', 'sensu_agent_version');
      expect((await api.get(`${DEFAULT}/entities/a`)).body).to.deep.equal(before);
    });
  }

  for (const [query, count] of [
    ['limit=%2B1', 1],
    ['limit=%2B01', 1],
    ['limit=+1', 2],
    ['limit=%2B%2B1', 2],
    ['limit=%2B', 2],
    ['limit=9223372036854775808', 2],
  ] as const) {
    it(`has a page of ${count} by ${query}`, async () => {
      expect((await api.get(`${DEFAULT}/entities?${query}`)).body).to.have.lengthOf(count);
    });
  }

  for (const text of ['', ' ', '\n']) {
    it(`runs a check with the body ${JSON.stringify(text)}`, async () => {
      const { status, body } = await api.send({ method: 'POST', path: `${DEFAULT}/checks/c/execute`, text });
      expect([status, Object.keys(body as object)]).to.deep.equal([202, ['issued']]);
      const missing = await api.send({ method: 'POST', path: `${DEFAULT}/checks/none/execute`, text });
      expect(missing.status).to.equal(404);
    });
  }

  it('still needs complete JSON to run a check', async () => {
    const { status } = await api.send({ method: 'POST', path: `${DEFAULT}/checks/c/execute`, text: '{' });
    expect(status).to.equal(400);
  });
});

describe('an empty list in a request', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const SYSTEM = { network: { interfaces: [] }, processes: [] };
  const ENTITY = { entity_class: 'proxy', subscriptions: [], redact: [], keepalive_handlers: [], system: SYSTEM };

  for (const [method, path, name] of [
    ['POST', '', 'posted'],
    ['PUT', '/put', 'put'],
  ] as const) {
    it(`comes back as an empty list from ${method} of an entity, and is null in what is stored`, async () => {
      const body = { ...ENTITY, metadata: { name, namespace: 'default' } };
      const reply = await api.send({ method, path: `${DEFAULT}/entities${path}`, body });
      expect(reply.status).to.equal(200);
      expect(reply.body).to.deep.nested.include({
        'system.network.interfaces': [],
        'system.processes': [],
        subscriptions: [`entity:${name}`],
      });
      expect(reply.body).to.not.have.any.keys('redact', 'keepalive_handlers');
      const { body: stored } = await api.get(`${DEFAULT}/entities/${name}`);
      expect(stored).to.deep.nested.include({ 'system.network.interfaces': null, 'system.processes': null });
    });
  }

  it('comes back as an empty list of addresses inside another list', async () => {
    const system = { network: { interfaces: [{ name: 'lo', addresses: [] }, { name: 'eth0' }] } };
    const { body } = await api.send({
      method: 'PUT',
      path: `${DEFAULT}/entities/n`,
      body: { entity_class: 'proxy', system },
    });
    expect(body).to.deep.nested.include({
      'system.network.interfaces': [
        { name: 'lo', addresses: [] },
        { name: 'eth0', addresses: null },
      ],
    });
  });

  it('comes back as an empty list from PUT of an event', async () => {
    const { status, body } = await api.send({
      method: 'PUT',
      path: `${DEFAULT}/events/e/c`,
      body: {
        entity: { subscriptions: [], system: SYSTEM },
        check: {
          interval: 1,
          runtime_assets: [],
          env_vars: [],
          check_hooks: [],
          subdues: [],
          history: [],
          silenced: [],
        },
        pipelines: [],
      },
    });
    expect(status).to.equal(200);
    expect(body).to.deep.nested.include({
      'entity.subscriptions': [],
      'entity.system.processes': [],
      'check.runtime_assets': [],
      'check.env_vars': [],
      'check.check_hooks': [],
      'check.history': [],
      pipelines: [],
    });
    expect((body as { check: object }).check).to.not.have.any.keys('subdues', 'silenced');
  });

  it('comes back as an empty list from PATCH, unless the member is left out when empty', async () => {
    await api.send({ method: 'PUT', path: `${DEFAULT}/checks/c`, body: CHECK });
    const { status, body } = await api.send({
      method: 'PATCH',
      path: `${DEFAULT}/checks/c`,
      headers: MERGE_PATCH,
      body: { runtime_assets: [], secrets: [], subdues: [], output_metric_tags: [] },
    });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ runtime_assets: [], secrets: [] });
    expect(body).to.not.have.any.keys('subdues', 'output_metric_tags');
  });
});

describe('the order of refusals', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    for (const [method, path, body] of [['PUT', '/entities/there', { entity_class: 'proxy' }]] as const) {
      expect((await api.send({ method, path: DEFAULT + path, body })).status).to.equal(200);
    }
  });

  for (const path of ['/checks/none', '/checks/a%20b', '/entities/none', '/assets/a%20b', '/handlers/%00']) {
    it(`puts the content type of a PATCH before a missing resource: ${path}`, async () => {
      const request = { method: 'PATCH', path: DEFAULT + path, body: {} };
      const wrong = await api.send({ ...request, headers: { 'content-type': 'application/json' } });
      expect(wrong.status).to.equal(400);
      expect(wrong.body)
        .to.have.property('message')
        .that.matches(/Content-Type/);
      expect((await api.send({ ...request, headers: MERGE_PATCH })).status).to.equal(404);
    });
  }

  it('puts an existing entity before its class in POST', async () => {
    const post = (name: string, fields: object): Promise<Reply> =>
      api.send({ method: 'POST', path: `${DEFAULT}/entities`, body: { metadata: { name }, ...fields } });
    for (const fields of [{}, { entity_class: 'a b' }, { entity_class: '' }]) {
      expect((await post('there', fields)).status).to.equal(409);
      expect((await post('new', fields)).status).to.equal(400);
    }
  });

  it('puts the agent that manages an entity before its class in PUT', async () => {
    const body = { entity_class: 'a b', metadata: { labels: { 'sensu.io/managed_by': 'sensu-agent' } } };
    const { status, body: answer } = await api.send({ method: 'PUT', path: `${DEFAULT}/entities/managed`, body });
    expect([status, answer]).to.deep.equal([409, { message: 'entity is managed by its agent', code: 3 }]);
  });
});
