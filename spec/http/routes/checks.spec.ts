import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const CHECKS = '/api/core/v2/namespaces/default/checks';

const check = (name: string, more: object = {}): object => ({
  metadata: { name, namespace: 'default' },
  command: 'true',
  interval: 10,
  ...more,
});

describe('a check', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (body: unknown): Promise<Reply> => api.send({ method: 'POST', path: CHECKS, body });
  const put = (name: string, body: unknown): Promise<Reply> =>
    api.send({ method: 'PUT', path: `${CHECKS}/${name}`, body });

  it('is created once, with an answer without a body, and shown with its author and a tag', async () => {
    expect(await post(check('c1'))).to.include({ status: 201, text: '' });
    const again = await post(check('c1'));
    expect([again.status, again.body]).to.deep.equal([409, { message: 'resource already exists', code: 3 }]);
    const { status, body, headers } = await api.get(`${CHECKS}/c1`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      command: 'true',
      interval: 10,
      metadata: { name: 'c1', namespace: 'default', created_by: 'admin' },
    });
    expect(headers.etag).to.match(/^"[0-9a-f]{16}"$/);
  });

  it('keeps its tag until it changes, and then gets another one', async () => {
    const tag = async (): Promise<unknown> => (await api.get(`${CHECKS}/tag`)).headers.etag;
    await put('tag', check('tag'));
    const first = await tag();
    await put('tag', check('tag'));
    expect(await tag()).to.equal(first);
    await put('tag', check('tag', { interval: 11 }));
    expect(await tag()).to.not.equal(first);
  });

  it('is replaced by PUT and deleted once', async () => {
    for (const interval of [10, 20]) expect((await put('r', check('r', { interval }))).status).to.equal(201);
    expect((await api.get(`${CHECKS}/r`)).body).to.have.property('interval', 20);
    for (const expected of [204, 404]) {
      expect((await api.send({ method: 'DELETE', path: `${CHECKS}/r` })).status).to.equal(expected);
    }
  });

  it('shows a reference without a type as a reference to a pipeline', async () => {
    await put('p', check('p', { pipelines: [{ name: 'x' }] }));
    expect((await api.get(`${CHECKS}/p`)).body).to.have.deep.property('pipelines', [
      { name: 'x', type: 'Pipeline', api_version: 'core/v2' },
    ]);
  });

  it('is listed in its namespace and in all namespaces', async () => {
    await put('listed', check('listed'));
    for (const path of [CHECKS, '/api/core/v2/checks']) {
      const names = ((await api.get(path)).body as { metadata: { name: string } }[]).map(
        ({ metadata }) => metadata.name,
      );
      expect(names).to.include('listed');
    }
    expect((await api.get('/api/core/v2/namespaces/ghost/checks')).body).to.deep.equal([]);
  });

  it('is stored with its schedule, its windows and its proxy requests', async () => {
    const fields = {
      interval: 0,
      cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *',
      round_robin: true,
      proxy_requests: { entity_attributes: ['entity.entity_class === "proxy"'], splay: true, splay_coverage: 90 },
      subdue: { days: { all: [{ begin: '1:00AM', end: '2:00AM' }] } },
      subdues: [{ begin: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00Z', repeat: ['daily'] }],
    };
    expect((await put('scheduled', check('scheduled', fields))).status).to.equal(201);
    expect((await api.get(`${CHECKS}/scheduled`)).body).to.deep.include(fields);
  });

  const refused: [string, unknown, string][] = [
    ['nothing', {}, 'the namespace of the resource () does not match the namespace of the URI (default)'],
    [
      'another namespace',
      { metadata: { namespace: 'dev' } },
      'the namespace of the resource (dev) does not match the namespace of the URI (default)',
    ],
    ['another name', check('y'), 'the name of the resource (y) does not match the name of the URI (x)'],
    [
      'no interval',
      check('x', { interval: 0 }),
      'resource is invalid: check interval must be greater than 0 or a valid cron schedule must be provided',
    ],
    [
      'a ttl below its interval',
      check('x', { ttl: 10 }),
      'resource is invalid: ttl must be greater than check interval',
    ],
    [
      'an interval and a cron expression',
      check('x', { cron: '* * * * *' }),
      'resource is invalid: must only specify either an interval or a cron schedule',
    ],
    [
      'splay over no time',
      check('x', { proxy_requests: { splay: true } }),
      'resource is invalid: proxy request splay coverage must be greater than 0 if splay is enabled',
    ],
    [
      'splay over more time than there is',
      check('x', { proxy_requests: { splay_coverage: 101 } }),
      'resource is invalid: proxy request splay coverage must be between 0 and 100',
    ],
  ];
  for (const [what, body, message] of refused) {
    it(`is 400 with ${what}`, async () => {
      const reply = await put('x', body);
      expect([reply.status, reply.body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('is 404 in a namespace that does not exist', async () => {
    const body = check('x', { metadata: { name: 'x', namespace: 'ghost' } });
    const reply = await api.send({ method: 'POST', path: '/api/core/v2/namespaces/ghost/checks', body });
    expect([reply.status, reply.body]).to.deep.equal([404, { message: 'the namespace ghost does not exist', code: 2 }]);
  });
});
