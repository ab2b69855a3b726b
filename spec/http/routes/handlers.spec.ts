import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const HANDLERS = '/api/core/v2/namespaces/default/handlers';

const handler = (name: string, more: object = {}): object => ({
  metadata: { name, namespace: 'default', created_by: 'eve' },
  type: 'pipe',
  command: 'cat',
  ...more,
});

describe('a handler', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (body: unknown): Promise<Reply> => api.send({ method: 'POST', path: HANDLERS, body });
  const put = (name: string, body: unknown): Promise<Reply> =>
    api.send({ method: 'PUT', path: `${HANDLERS}/${name}`, body });

  it('is created once and shown with a tag and its real author, not the one that was sent', async () => {
    expect(await post(handler('h1'))).to.include({ status: 201, text: '' });
    const again = await post(handler('h1'));
    expect([again.status, again.body]).to.deep.equal([409, { message: 'resource already exists', code: 3 }]);
    const { status, body, headers } = await api.get(`${HANDLERS}/h1`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ type: 'pipe', command: 'cat', timeout: 0, handlers: null });
    expect(body).to.have.deep.property('metadata', { name: 'h1', namespace: 'default', created_by: 'admin' });
    expect(headers.etag).to.match(/^"[0-9a-f]{16}"$/);
  });

  it('is replaced by PUT and deleted once', async () => {
    for (const timeout of [1, 2]) expect((await put('r', handler('r', { timeout }))).status).to.equal(201);
    expect((await api.get(`${HANDLERS}/r`)).body).to.have.property('timeout', 2);
    for (const expected of [204, 404]) {
      expect((await api.send({ method: 'DELETE', path: `${HANDLERS}/r` })).status).to.equal(expected);
    }
  });

  it('is listed in its namespace and in all namespaces, page by page', async () => {
    await api.put('namespaces', undefined, 'zoo', { name: 'zoo' });
    const path = '/api/core/v2/namespaces/zoo/handlers';
    for (const name of ['a', 'b']) {
      const body = handler(name, { metadata: { name, namespace: 'zoo' } });
      expect((await api.send({ method: 'POST', path, body })).status).to.equal(201);
    }
    const names = ({ body }: Reply) => (body as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    const first = await api.get(`${path}?limit=1`);
    expect([names(first), first.headers['sensu-continue']]).to.deep.equal([['a'], 'YQA']);
    expect(names(await api.get(`${path}?limit=1&continue=YQA`))).to.deep.equal(['b']);
    expect(names(await api.get('/api/core/v2/handlers'))).to.include.members(['a', 'b']);
  });

  const refused: [string, unknown, string][] = [
    ['no type', handler('x', { type: '' }), 'resource is invalid: empty handler type'],
    ['an unknown type', handler('x', { type: 'grpc' }), 'resource is invalid: unknown handler type: grpc'],
    ['no command', handler('x', { command: ' ' }), 'resource is invalid: missing command'],
    [
      'a set of too many',
      handler('x', { type: 'set', handlers: Array.from({ length: 1_001 }, () => 'a') }),
      'resource is invalid: handlers of a set must be at most 1000',
    ],
    ['another name', handler('y'), 'the name of the resource (y) does not match the name of the URI (x)'],
    [
      'another namespace',
      handler('x', { metadata: { name: 'x', namespace: 'dev' } }),
      'the namespace of the resource (dev) does not match the namespace of the URI (default)',
    ],
  ];
  for (const [what, body, message] of refused) {
    it(`is 400 with ${what}`, async () => {
      const reply = await put('x', body);
      expect([reply.status, reply.body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('is 404 in a namespace that does not exist', async () => {
    const body = handler('x', { metadata: { name: 'x', namespace: 'ghost' } });
    const reply = await api.send({ method: 'POST', path: '/api/core/v2/namespaces/ghost/handlers', body });
    expect([reply.status, reply.body]).to.deep.equal([404, { message: 'the namespace ghost does not exist', code: 2 }]);
  });

  it('is accessible with rights that name it', async () => {
    await put('mine', handler('mine'));
    const rule = { verbs: ['get', 'update'], resources: ['handlers'], resource_names: ['mine'] };
    const authorization = `Bearer ${await api.userWith('ann', [rule])}`;
    const asAnn = async (method: string, path: string, body?: unknown) =>
      (await api.send({ method, path, headers: { authorization }, body })).status;
    expect(await asAnn('GET', `${HANDLERS}/mine`)).to.equal(200);
    expect(await asAnn('PUT', `${HANDLERS}/mine`, handler('mine'))).to.equal(201);
    expect(await asAnn('GET', `${HANDLERS}/h1`)).to.equal(403);
    expect(await asAnn('DELETE', `${HANDLERS}/mine`)).to.equal(403);
    expect(await asAnn('POST', HANDLERS, handler('x'))).to.equal(403);
    expect(await asAnn('GET', HANDLERS)).to.equal(403);
    expect(await asAnn('GET', '/api/core/v2/handlers')).to.equal(403);
  });
});
