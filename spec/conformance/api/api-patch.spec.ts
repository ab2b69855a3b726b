import { expect } from 'chai';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

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
    it(`keeps all changes of ${AT_ONCE} concurrent patches: ${path}`, async () => {
      const answers = await Promise.all(numbers.map((key) => api.patch(path, oneOf(key))));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      const { json } = await api.get(path);
      expect(at(json, 'metadata', 'labels')).to.deep.equal(all);
    });

    it(`succeeds once among concurrent patches with the same If-Match: ${path}`, async () => {
      const headers = { 'if-match': tagOf(await api.get(path)) };
      const answers = await Promise.all(numbers.map((key) => api.patch(path, oneOf(key), headers)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      const lost = answers.filter(({ status }) => status !== 200);
      for (const { status, json } of lost) {
        expect([status, json]).to.deep.equal([412, { message: 'at least one condition failed', code: 7 }]);
      }
      expect(Object.keys(at((await api.get(path)).json, 'metadata', 'labels') as object)).to.have.length(1);
    });

    it(`answers with the ETag of a GET, before and after: ${path}`, async () => {
      const before = tagOf(await api.get(path));
      const unchanged = await api.patch(path, {}, { 'if-match': before });
      expect([unchanged.status, tagOf(unchanged)]).to.deep.equal([200, before]);
      const changed = await api.patch(path, oneOf('x'));
      expect(tagOf(changed)).to.not.equal(before);
      expect(tagOf(await api.get(path))).to.equal(tagOf(changed));
    });

    it(`keeps the author, and records its user and the changed members in the ledger: ${path}`, async () => {
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

    it(`answers 400 to an invalid result and changes nothing: ${path}`, async () => {
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

    it(`answers 404 for a missing resource, after errors in the patch and before conditions: ${path}`, async () => {
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

  it('removes members with null at any depth, and shows emptied lists as empty', async () => {
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

  it('keeps the reported data of an entity and its own subscription', async () => {
    const { json } = await api.patch(ENTITY, { subscriptions: ['s'], last_seen: 'x', system: { hostname: 'other' } });
    expect(json).to.not.have.any.keys('system', 'last_seen', 'sensu_agent_version');
    expect(at(json, 'subscriptions')).to.deep.equal(['s', 'entity:e']);
    const entity = (await api.get(ENTITY)).json;
    expect([at(entity, 'last_seen'), at(entity, 'system', 'hostname')]).to.deep.equal([7, 'host']);
  });

  it('keeps the redacted values of an entity, and hides them in the answer', async () => {
    await api.patch(ENTITY, { metadata: { labels: { password: 'p' } } });
    const shown = await api.patch(ENTITY, { user: 'u' });
    expect(at(shown.json, 'metadata', 'labels')).to.deep.equal({ password: 'REDACTED' });
    const stored = backend.store.get('resources', 'entities/default/e');
    expect(at(stored, 'metadata', 'labels')).to.deep.equal({ password: 'p' });
    const withNewValue = { redact: ['nothing'], metadata: { labels: { password: 'q' } } };
    expect(at((await api.patch(ENTITY, withNewValue)).json, 'metadata', 'labels')).to.deep.equal({ password: 'q' });
  });

  it('answers 409 for an agent-managed entity, or if it would make the entity agent-managed', async () => {
    const labels = { 'sensu.io/managed_by': 'sensu-agent' };
    const { status, json } = await api.patch(ENTITY, { metadata: { labels } });
    expect([status, json]).to.deep.equal([409, { message: 'entity is managed by its agent', code: 3 }]);
  });

  it('reaches the connected agent of an entity, which stays an agent entity', async () => {
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

  it('may only repeat the name of a namespace', async () => {
    const path = '/api/core/v2/namespaces/default';
    const same = await api.patch(path, { name: 'default', other: 1 });
    expect([same.status, same.json]).to.deep.equal([200, { name: 'default' }]);
    expect((await api.patch(path, {}, { 'if-match': tagOf(same) })).status).to.equal(200);
    expect((await api.patch(path, {}, { 'if-match': '"x"' })).status).to.equal(412);
    for (const name of ['moved', null, 3]) expect((await api.patch(path, { name })).status).to.equal(400);
    expect((await api.patch('/api/core/v2/namespaces/none', {})).status).to.equal(404);
  });
});

describe('the ETag of a resource', () => {
  it('is unchanged after a restart, also for data that an agent reports', async () => {
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
