import { expect } from 'chai';
import { type ApiAnswer, ApiClient } from '../support/api-client.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { eventually } from '../support/eventually.ts';
import { keepalive } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';

const AT_ONCE = 100;
const CHECK = '/ns/default/checks/c';
const ENTITY = '/ns/default/entities/e';

const numbers = Array.from({ length: AT_ONCE }, (_, index) => String(index));
const oneOf = (key: string): object => ({ metadata: { labels: { [key]: key } } });
const all = Object.fromEntries(numbers.map((key) => [key, key]));
const tagOf = ({ headers }: ApiAnswer): string => String(headers.etag);

describe('a patch', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  beforeEach(async () => {
    const metadata = { name: 'c', namespace: 'default' };
    await api.put(CHECK, { metadata, command: 'true', interval: 10, handlers: ['h'], runtime_assets: ['a'] });
    const entity = { metadata: { name: 'e' }, entity_class: 'proxy', system: { hostname: 'host' }, last_seen: 7 };
    await api.put(ENTITY, entity);
  });
  afterEach(async () => {
    await api.delete(CHECK);
    await api.delete(ENTITY);
  });

  for (const path of [CHECK, ENTITY]) {
    it(`is one of ${AT_ONCE} at once of which none is lost: ${path}`, async () => {
      const answers = await Promise.all(numbers.map((key) => api.patch(path, oneOf(key))));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      const { json } = await api.get(path);
      expect(at(json, 'metadata', 'labels')).to.deep.equal(all);
    });

    it(`wins alone where all have seen the same: ${path}`, async () => {
      const headers = { 'if-match': tagOf(await api.get(path)) };
      const answers = await Promise.all(numbers.map((key) => api.patch(path, oneOf(key), headers)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      const lost = answers.filter(({ status }) => status !== 200);
      for (const { status, json } of lost) {
        expect([status, json]).to.deep.equal([412, { message: 'at least one condition failed', code: 7 }]);
      }
      expect(Object.keys(at((await api.get(path)).json, 'metadata', 'labels') as object)).to.have.length(1);
    });

    it(`answers with the tag that GET shows, before and after: ${path}`, async () => {
      const before = tagOf(await api.get(path));
      const unchanged = await api.patch(path, {}, { 'if-match': before });
      expect([unchanged.status, tagOf(unchanged)]).to.deep.equal([200, before]);
      const changed = await api.patch(path, oneOf('x'));
      expect(tagOf(changed)).to.not.equal(before);
      expect(tagOf(await api.get(path))).to.equal(tagOf(changed));
    });

    it(`leaves who wrote it, and is on record with who sent it and which members changed: ${path}`, async () => {
      await api.put('/api/core/v2/users/bob', {
        username: 'bob',
        password: 'bob-P@ssw0rd',
        groups: ['cluster-admins'],
      });
      const bob = await ApiClient.login(backend.apiPort, { username: 'bob', password: 'bob-P@ssw0rd' });
      const author = at((await api.get(path)).json, 'metadata', 'created_by');
      const { json } = await bob.patch(path, { metadata: { created_by: 'eve', labels: { secret: 'hidden' } } });
      expect(at(json, 'metadata', 'created_by')).to.equal(author);
      bob.close();
      const [actor, name] = path.split('/').slice(3);
      const entries = await api.ledger({ actor: String(actor), key: `default/${String(name)}` });
      const last = entries.at(-1);
      expect([last?.event, last?.cause, last?.details]).to.deep.equal([
        'resource.updated',
        { user: 'bob' },
        { changed: ['metadata'] },
      ]);
      expect(JSON.stringify(entries)).to.not.include('hidden');
    });

    it(`that breaks a rule is 400 and leaves nothing: ${path}`, async () => {
      const [before, { length }] = [await api.get(path), await api.ledger({ actor: path.split('/')[3] ?? '' })];
      const broken = [
        { metadata: null },
        { metadata: { name: null } },
        { metadata: { name: '' } },
        { metadata: { namespace: null } },
        { metadata: { name: 'other' } },
        { metadata: { labels: { n: 1 } } },
        { metadata: [] },
        path === CHECK ? { interval: 0 } : { entity_class: '' },
      ];
      for (const body of broken) {
        const { status, json } = await api.patch(path, body);
        expect([status, at(json, 'code')], JSON.stringify(body)).to.deep.equal([400, 1]);
      }
      expect(await api.get(path)).to.deep.include({ text: before.text });
      expect(await api.ledger({ actor: path.split('/')[3] ?? '' })).to.have.length(length);
    });

    it(`of what is not there is 404, after its own faults and before its conditions: ${path}`, async () => {
      const none = `${path}none`;
      const cases: [body: unknown, headers: Record<string, string>, status: number][] = [
        [{}, {}, 404],
        [{}, { 'if-match': '"x"' }, 404],
        [{ metadata: { name: 'c' } }, {}, 400],
        [{ subscriptions: 3 }, {}, 400],
        ['nonsense', {}, 400],
        [{}, { 'content-type': 'application/json' }, 400],
      ];
      for (const [body, headers, status] of cases) {
        expect((await api.patch(none, body, headers)).status, JSON.stringify(body)).to.equal(status);
      }
    });
  }

  it('removes by null, however deep, and says so of what it made empty', async () => {
    await api.patch(CHECK, { metadata: { labels: { a: '1', b: '2' } }, ttl: 20 });
    const { json } = await api.patch(CHECK, {
      metadata: { labels: { a: null }, annotations: { x: null } },
      ttl: null,
      runtime_assets: [],
      handlers: null,
      subdue: { days: { monday: null } },
    });
    expect(json).to.deep.include({ ttl: 0, runtime_assets: [], handlers: [] });
    const metadata = { name: 'c', namespace: 'default', labels: { b: '2' }, created_by: 'admin' };
    expect(at(json, 'metadata')).to.deep.equal(metadata);
    expect(at((await api.get(CHECK)).json, 'runtime_assets')).to.equal(null);
  });

  it('of an entity does not touch what is reported of it, nor its own subscription', async () => {
    const { json } = await api.patch(ENTITY, { subscriptions: ['s'], last_seen: 'x', system: { hostname: 'other' } });
    expect(json).to.not.have.any.keys('system', 'last_seen', 'sensu_agent_version');
    expect(at(json, 'subscriptions')).to.deep.equal(['s', 'entity:e']);
    const entity = (await api.get(ENTITY)).json;
    expect([at(entity, 'last_seen'), at(entity, 'system', 'hostname')]).to.deep.equal([7, 'host']);
  });

  it('of an entity hides what is redacted, and keeps it', async () => {
    await api.patch(ENTITY, { metadata: { labels: { password: 'p' } } });
    const shown = await api.patch(ENTITY, { user: 'u' });
    expect(at(shown.json, 'metadata', 'labels')).to.deep.equal({ password: 'REDACTED' });
    const revealed = await api.patch(ENTITY, { redact: ['nothing'] });
    expect(at(revealed.json, 'metadata', 'labels')).to.deep.equal({ password: 'p' });
  });

  it('of what an agent manages is 409, and so is one that makes it so', async () => {
    const labels = { 'sensu.io/managed_by': 'sensu-agent' };
    const { status, json } = await api.patch(ENTITY, { metadata: { labels } });
    expect([status, json]).to.deep.equal([409, { message: 'entity is managed by its agent', code: 3 }]);
  });

  it('of an entity whose agent is connected reaches that agent, and leaves it one', async () => {
    const agent = await backend.connect({ name: 'live' });
    agent.send('keepalive', keepalive('live', { timestamp: backend.nowS }));
    await agent.ping();
    const { json } = await api.patch('/ns/default/entities/live', { entity_class: 'proxy', subscriptions: ['new'] });
    const patched = { entity_class: 'agent', subscriptions: ['new', 'entity:live'] };
    expect(json).to.deep.include(patched);
    const isNew = (config: unknown): boolean => JSON.stringify(at(config, 'subscriptions')).includes('new');
    expect(await eventually(() => agent.next('entity_config'), isNew)).to.deep.include(patched);
    await agent.disconnect();
  });

  it('of a namespace can only say what is so', async () => {
    const path = '/api/core/v2/namespaces/default';
    const same = await api.patch(path, { name: 'default', other: 1 });
    expect([same.status, same.json]).to.deep.equal([200, { name: 'default' }]);
    expect((await api.patch(path, {}, { 'if-match': tagOf(same) })).status).to.equal(200);
    expect((await api.patch(path, {}, { 'if-match': '"x"' })).status).to.equal(412);
    for (const name of ['moved', null, 3]) expect((await api.patch(path, { name })).status).to.equal(400);
    expect((await api.patch('/api/core/v2/namespaces/none', {})).status).to.equal(404);
  });
});

describe('the tag of a resource', () => {
  it('is the same after a restart, also of what an agent reports of', async () => {
    const backend = await InProcessBackend.start();
    try {
      const api = await backend.login();
      const metadata = { name: 'c', namespace: 'default', annotations: { z: '1', a: '2' } };
      await api.put(CHECK, { metadata, command: 'true', interval: 10 });
      const agent = await backend.connect({ name: 'e' });
      agent.send('keepalive', keepalive('e', { timestamp: backend.nowS }));
      await agent.ping();
      const tags = [tagOf(await api.patch(CHECK, oneOf('x'))), tagOf(await api.patch(ENTITY, oneOf('x')))];
      await backend.restart();
      const again = await backend.login();
      expect([tagOf(await again.get(CHECK)), tagOf(await again.get(ENTITY))]).to.deep.equal(tags);
      for (const [index, path] of [CHECK, ENTITY].entries()) {
        const { status } = await again.patch(path, oneOf('y'), { 'if-match': String(tags[index]) });
        expect(status).to.equal(200);
      }
    } finally {
      await backend.stop();
    }
  });
});
