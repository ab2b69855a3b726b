import { expect } from 'chai';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const EVENTS = '/api/core/v2/namespaces/default/events';
const NOT_FOUND = { message: 'not found', code: 2 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const event = (entity: string, check: string, more: object = {}): Record<string, unknown> => ({
  entity: { entity_class: 'proxy', metadata: { name: entity, namespace: 'default' } },
  check: { interval: 30, metadata: { name: check, namespace: 'default' }, ...more },
});

describe('an event', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const put = (path: string, body: unknown, method = 'PUT'): Promise<Reply> =>
    api.send({ method, path: `${EVENTS}/${path}`, body });
  const post = (body: unknown): Promise<Reply> => api.send({ method: 'POST', path: EVENTS, body });

  it('is returned as it was accepted, with all defaults and no computed fields', async () => {
    const { status, body, headers } = await post({
      ...event('db1', 'disk', { status: 1, output: '87%' }),
      timestamp: 17,
    });
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    const { id, ...rest } = body as { id: string };
    expect(id).to.match(UUID);
    expect(rest).to.deep.equal({
      timestamp: 17,
      entity: {
        entity_class: 'proxy',
        system: {
          network: { interfaces: null },
          libc_type: '',
          vm_system: '',
          vm_role: '',
          cloud_provider: '',
          processes: null,
        },
        subscriptions: null,
        last_seen: 0,
        deregister: false,
        deregistration: {},
        metadata: { name: 'db1', namespace: 'default' },
        sensu_agent_version: '',
      },
      check: {
        handlers: [],
        high_flap_threshold: 0,
        interval: 30,
        low_flap_threshold: 0,
        publish: false,
        runtime_assets: null,
        subscriptions: [],
        proxy_entity_name: '',
        check_hooks: null,
        stdin: false,
        subdue: null,
        ttl: 0,
        timeout: 0,
        round_robin: false,
        executed: 0,
        history: null,
        issued: 0,
        output: '87%',
        status: 1,
        total_state_change: 0,
        last_ok: 0,
        occurrences: 0,
        occurrences_watermark: 0,
        output_metric_format: '',
        output_metric_handlers: null,
        env_vars: null,
        metadata: { name: 'disk', namespace: 'default' },
        secrets: null,
        is_silenced: false,
        scheduler: '',
        pipelines: [],
      },
      metadata: {},
      sequence: 0,
      pipelines: null,
    });
  });

  it('is stored before the answer and shown with a tag', async () => {
    await put('g/c', event('g', 'c'));
    const { status, body, headers } = await api.get(`${EVENTS}/g/c`);
    expect(status).to.equal(200);
    expect(body).to.have.nested.property('check.state', 'passing');
    expect(headers.etag).to.match(/^"[0-9a-f]{16}"$/);
  });

  it('gets the timestamp 0 when none was sent', async () => {
    expect((await put('nots/c', event('nots', 'c'))).body).to.have.property('timestamp', 0);
  });

  it('is a conflict when it is posted for an entity and check that already have an event', async () => {
    expect((await post(event('twice', 'c'))).status).to.equal(200);
    const { status, body } = await post(event('twice', 'c'));
    expect([status, body]).to.deep.equal([409, { message: 'resource already exists', code: 3 }]);
  });

  it('is created or updated by POST to its own path, with an answer without a body', async () => {
    for (const status of [201, 201]) {
      expect(await put('two/seg', event('two', 'seg'), 'POST')).to.include({ status, text: '' });
    }
  });

  it('is deleted once, under its exact name', async () => {
    await put('d/disk', event('d', 'disk'));
    expect((await api.send({ method: 'DELETE', path: `${EVENTS}/d/dis` })).status).to.equal(404);
    expect(await api.send({ method: 'DELETE', path: `${EVENTS}/d/disk` })).to.include({ status: 204, text: '' });
    const { status, body } = await api.send({ method: 'DELETE', path: `${EVENTS}/d/disk` });
    expect([status, body]).to.deep.equal([404, NOT_FOUND]);
  });

  it('takes its names from the path, and its class is then proxy', async () => {
    const { status, body } = await put('f%3Ax/c%2Ey', { entity: {}, check: { interval: 30 } });
    expect(status).to.equal(200);
    expect(body).to.have.nested.property('entity.entity_class', 'proxy');
    expect(body).to.have.nested.property('entity.metadata').that.deep.equals({ name: 'f:x', namespace: 'default' });
    expect(body).to.have.nested.property('check.metadata').that.deep.equals({ name: 'c.y', namespace: 'default' });
  });

  it('needs no check when it has metrics and is posted', async () => {
    const metrics = { handlers: ['h'], points: [{ name: 'p', value: 1 }] };
    const { status, body } = await post({ entity: { metadata: { name: 'm' } }, metrics });
    expect(status).to.equal(200);
    expect(body).to.not.have.property('check');
    expect((await put('m/c', { entity: {}, metrics })).body).to.have.property('message', 'event must contain a check');
  });

  const names = (entity: object, check: object) => ({
    entity: { metadata: entity },
    check: { interval: 1, metadata: check },
  });
  const refused: [string, unknown, string][] = [
    ['an empty object', {}, 'event must contain an entity'],
    ['null', null, 'event must contain an entity'],
    ['nothing but an entity', { entity: {} }, 'event must contain a check or metrics'],
    [
      'a check without interval and cron',
      { entity: {}, check: {} },
      'check is invalid: check interval must be greater than or equal to 1',
    ],
    ['another entity', names({ name: 'x' }, {}), 'the name of the resource (x) does not match the name of the URI (e)'],
    ['another check', names({}, { name: 'x' }), 'the name of the resource (x) does not match the name of the URI (c)'],
    [
      'another namespace',
      names({ name: 'x', namespace: 'y' }, {}),
      'the namespace of the resource (y) does not match the namespace of the URI (default)',
    ],
    ['a short ttl', { entity: {}, check: { interval: 1, ttl: 4 } }, 'check is invalid: minimum ttl is 5 seconds'],
    ['a name of its own', { ...names({}, {}), metadata: { name: 'x' } }, 'events cannot be named'],
    [
      'a hook entry with two types',
      { entity: {}, check: { interval: 1, check_hooks: [{ a: [], b: [] }] } },
      'check is invalid: check_hooks entries must have exactly one type',
    ],
    ['a status of text', { entity: {}, check: { interval: 1, status: 'x' } }, 'check.status must be integer or null'],
  ];
  for (const [what, body, message] of refused) {
    it(`is 400 with ${what}`, async () => {
      const reply = await put('e/c', body);
      expect([reply.status, reply.body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('is 404 in a namespace that does not exist, but only if it is valid', async () => {
    const ghost = '/api/core/v2/namespaces/ghost/events/e/c';
    const valid = await api.send({ method: 'PUT', path: ghost, body: { entity: {}, check: { interval: 1 } } });
    expect([valid.status, valid.body]).to.deep.equal([404, { message: 'the namespace ghost does not exist', code: 2 }]);
    expect((await api.send({ method: 'PUT', path: ghost, body: {} })).status).to.equal(400);
  });

  it('hides secret labels of its entity in answers, but not in the store', async () => {
    const labels = { region: 'eu', 'API-Key': 'k', password: 'p' };
    const body = { entity: { metadata: { labels } }, check: { interval: 1 } };
    const shown = { region: 'eu', 'API-Key': 'REDACTED', password: 'REDACTED' };
    const answers = [await put('red/c', body), await api.get(`${EVENTS}/red/c`)];
    for (const answer of answers) {
      expect(answer.body).to.have.nested.property('entity.metadata.labels').that.deep.equals(shown);
    }
    const [listed] = (await api.get(`${EVENTS}/red`)).body as object[];
    expect(listed).to.have.nested.property('entity.metadata.labels').that.deep.equals(shown);
  });
});

describe('a list of events', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    await api.put('namespaces', undefined, 'abc', { name: 'abc' });
    for (const [namespace, entity, check] of [
      ['default', 'e1', 'b'],
      ['default', 'e1', 'a'],
      ['default', 'e10', 'a'],
      ['default', 'e2', 'a'],
      ['abc', 'z', 'z'],
    ]) {
      const path = `/api/core/v2/namespaces/${namespace}/events/${entity}/${check}`;
      await api.send({ method: 'PUT', path, body: { entity: {}, check: { interval: 5 } } });
    }
  });

  interface Named {
    metadata: { name: string; namespace: string };
  }
  const keysOf = ({ body }: Reply): string[] =>
    (body as { entity: Named; check: Named }[]).map(
      ({ entity, check }) => `${entity.metadata.namespace}/${entity.metadata.name}/${check.metadata.name}`,
    );

  const ALL = ['abc/z/z', 'default/e1/a', 'default/e1/b', 'default/e10/a', 'default/e2/a'];
  const scopes: [string, string[]][] = [
    ['/api/core/v2/events', ALL],
    [EVENTS, ALL.slice(1)],
    [`${EVENTS}/e1`, ALL.slice(1, 3)],
  ];
  for (const [path, expected] of scopes) {
    it(`is complete and in order, in pages of any size: ${path}`, async () => {
      expect(keysOf(await api.get(path))).to.deep.equal(expected);
      for (let limit = 1; limit <= expected.length + 1; limit += 1) {
        const found: string[] = [];
        for (let token: string | undefined = ''; token !== undefined;) {
          const page = await api.get(`${path}?limit=${limit}&continue=${token}`);
          found.push(...keysOf(page));
          token = page.headers['sensu-continue']?.toString();
        }
        expect(found, `limit ${limit}`).to.deep.equal(expected);
      }
    });
  }

  it('continues after the last key that was shown', async () => {
    const token = (key: string): string => Buffer.from(`${key}\0`).toString('base64url');
    const tokenOf = async (path: string): Promise<unknown> => (await api.get(path)).headers['sensu-continue'];
    expect(await tokenOf('/api/core/v2/events?limit=2')).to.equal(token('/default/e1/a'));
    expect(await tokenOf(`${EVENTS}?limit=1`)).to.equal(token('e1/a'));
    expect(await tokenOf(`${EVENTS}/e1?limit=1`)).to.equal(token('a'));
  });

  const limits: [string, number][] = [
    ['03', 3],
    ['0', 4],
    ['-1', 4],
    ['1.0', 4],
    ['1e1', 4],
    ['+3', 4],
    ['99999999999999999999', 4],
    ['2&limit=1', 2],
  ];
  for (const [limit, length] of limits) {
    it(`has ${length} of 4 with limit=${limit}`, async () => {
      expect(keysOf(await api.get(`${EVENTS}?limit=${limit}`))).to.have.lengthOf(length);
    });
  }

  for (const token of ['!!!', 'AAAA', 'zzz', 'ZTEvYQA=', 'x'.repeat(5_000), Buffer.from('~~').toString('base64url')]) {
    it(`is returned whatever the token: ${token.slice(0, 10)}`, async () => {
      expect((await api.get(`${EVENTS}?limit=2&continue=${token}`)).status).to.equal(200);
    });
  }

  it('is 404 for an entity without events, unless the request continues a list', async () => {
    const { status, body } = await api.get(`${EVENTS}/none`);
    expect([status, body]).to.deep.equal([404, NOT_FOUND]);
    const token = Buffer.from('z\0').toString('base64url');
    expect((await api.get(`${EVENTS}/e1?continue=${token}`)).body).to.deep.equal([]);
  });

  it('is empty for a namespace that does not exist', async () => {
    expect((await api.get('/api/core/v2/namespaces/ghost/events')).body).to.deep.equal([]);
  });

  it('needs the right to list events, which does not include the right to get one', async () => {
    const token = await api.userWith('lister', [{ verbs: ['list'], resources: ['events'] }]);
    const as = { authorization: `Bearer ${token}` };
    expect((await api.send({ path: '/api/core/v2/events', headers: as })).status).to.equal(200);
    expect((await api.send({ path: `${EVENTS}/e1/a`, headers: as })).status).to.equal(403);
  });
});
