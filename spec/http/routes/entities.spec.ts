import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const ENTITIES = '/api/core/v2/namespaces/default/entities';

describe('an entity', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (body: unknown): Promise<Reply> => api.send({ method: 'POST', path: ENTITIES, body });
  const put = (name: string, body: unknown): Promise<Reply> =>
    api.send({ method: 'PUT', path: `${ENTITIES}/${name}`, body });

  it('is created once and returned with its own subscription', async () => {
    const { status, body, headers } = await post({ entity_class: 'proxy', metadata: { name: 'sw1' } });
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(body).to.deep.include({
      entity_class: 'proxy',
      subscriptions: ['entity:sw1'],
      metadata: { name: 'sw1', namespace: 'default' },
    });
    const again = await post({ entity_class: 'proxy', metadata: { name: 'sw1' } });
    expect([again.status, again.body]).to.deep.equal([409, { message: 'resource already exists', code: 3 }]);
    const stored = await api.get(`${ENTITIES}/sw1`);
    expect(stored.body).to.deep.equal(body);
    expect(stored.headers.etag).to.match(/^"[0-9a-f]{16}"$/);
  });

  it('is created or replaced by PUT, with the author that was sent', async () => {
    const metadata = { created_by: 'eve' };
    expect((await put('p', { entity_class: 'proxy', metadata })).status).to.equal(200);
    const { body } = await put('p', { entity_class: 'proxy', metadata, subscriptions: ['net'] });
    expect(body).to.have.deep.property('subscriptions', ['net', 'entity:p']);
    expect((await api.get(`${ENTITIES}/p`)).body).to.have.nested.property('metadata.created_by', 'eve');
  });

  it('is deleted once', async () => {
    await put('gone', { entity_class: 'proxy' });
    for (const expected of [204, 404]) {
      const { status } = await api.send({ method: 'DELETE', path: `${ENTITIES}/gone` });
      expect(status).to.equal(expected);
    }
    expect((await api.get(`${ENTITIES}/gone`)).status).to.equal(404);
  });

  const refused: [string, unknown, string][] = [
    ['no name', { entity_class: 'proxy' }, 'entity name must not be empty'],
    [
      'a name with a blank',
      { entity_class: 'proxy', metadata: { name: 'a b' } },
      'entity name cannot contain spaces or special characters',
    ],
    ['the name ..', { entity_class: 'proxy', metadata: { name: '..' } }, 'entity name must not be "." or ".."'],
    ['no class', { metadata: { name: 'x' } }, 'entity class must not be empty'],
    [
      'another namespace',
      { entity_class: 'proxy', metadata: { name: 'x', namespace: 'dev' } },
      'the namespace of the resource (dev) does not match the namespace of the URI (default)',
    ],
  ];
  for (const [what, body, message] of refused) {
    it(`is 400 with ${what}`, async () => {
      const reply = await post(body);
      expect([reply.status, reply.body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('cannot be written under another name', async () => {
    const { status, body } = await put('x', { entity_class: 'proxy', metadata: { name: 'y' } });
    expect([status, body]).to.deep.equal([
      400,
      { message: 'the name of the resource (y) does not match the name of the URI (x)', code: 1 },
    ]);
  });

  it('is 404 in a namespace that does not exist', async () => {
    const path = '/api/core/v2/namespaces/ghost/entities/x';
    const { status, body } = await api.send({ method: 'PUT', path, body: { entity_class: 'proxy' } });
    expect([status, body]).to.deep.equal([404, { message: 'the namespace ghost does not exist', code: 2 }]);
  });

  const redactions: [string, string[] | undefined, string, boolean][] = [
    ['a default key', undefined, 'password', true],
    ['a default key in other letters', undefined, 'API-Key', true],
    ['a default key without its underscore', undefined, 'apikey', true],
    ['another key', undefined, 'region', false],
    ['a default key when the entity names others', ['region'], 'password', false],
    ['a key that the entity names', ['Region'], 'rEGION', true],
    ['__proto__ when it chose that', ['__proto__'], '__proto__', true],
  ];
  for (const [what, redact, key, hidden] of redactions) {
    it(`${hidden ? 'hides' : 'shows'} the value under ${what}`, async () => {
      const map = Object.fromEntries([[key, 'value']]);
      const { body } = await put('red', { entity_class: 'proxy', redact, metadata: { labels: map, annotations: map } });
      const shown = Object.fromEntries([[key, hidden ? 'REDACTED' : 'value']]);
      const { metadata } = body as { metadata: { labels: object; annotations: object } };
      expect(JSON.stringify([metadata.labels, metadata.annotations])).to.equal(JSON.stringify([shown, shown]));
    });
  }

  it('is listed in its namespace and in all namespaces, page by page', async () => {
    await api.put('namespaces', undefined, 'zoo', { name: 'zoo' });
    for (const name of ['a', 'a-b', 'a.b']) {
      await api.send({
        method: 'PUT',
        path: `/api/core/v2/namespaces/zoo/entities/${name}`,
        body: { entity_class: 'proxy' },
      });
    }
    const namesOf = ({ body }: Reply) =>
      (body as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    const first = await api.get('/api/core/v2/namespaces/zoo/entities?limit=2');
    expect(namesOf(first)).to.deep.equal(['a', 'a-b']);
    const token = first.headers['sensu-continue'] as string;
    const second = await api.get(`/api/core/v2/namespaces/zoo/entities?limit=2&continue=${token}`);
    expect([namesOf(second), second.headers['sensu-continue']]).to.deep.equal([['a.b'], undefined]);
    expect(namesOf(await api.get('/api/core/v2/entities'))).to.include.members(['sw1', 'a', 'a-b', 'a.b']);
  });
});
