import { expect } from 'chai';
import { type SilenceRecord, silencedName, silencedWithDefaults } from '../../../src/resources/silenced.ts';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const ALL = '/api/core/v2/silenced';
const SILENCED = '/api/core/v2/namespaces/default/silenced';

const body = (fields: object, namespace = 'default'): object => ({ metadata: { namespace }, ...fields });

const namesIn = ({ body: items }: Reply): string[] =>
  (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

describe('the routes of silences', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    for (const fields of [
      { subscription: 'linux' },
      { check: 'cpu' },
      { subscription: 'linux', check: 'cpu' },
      { subscription: 'entity:web', check: '*' },
    ]) {
      expect(await post(body(fields))).to.include({ status: 201, text: '' });
    }
  });

  const post = (sent: unknown): Promise<Reply> => api.send({ method: 'POST', path: SILENCED, body: sent });
  const nowS = (): number => Math.floor(api.clock.nowMs() / 1_000);

  it('show an entry with its author, but not its internal state', async () => {
    const { status, body: shown, headers } = await api.get(`${SILENCED}/*:cpu`);
    expect([status, headers.etag]).to.satisfy(([code, tag]: [number, string]) => code === 200 && tag !== '');
    expect(shown).to.have.all.keys('metadata', 'expire', 'expire_on_resolve', 'creator', 'check', 'begin', 'expire_at');
    expect(shown).to.deep.include({ creator: 'admin', expire: -1, expire_at: 0 });
    expect((await api.get(`${SILENCED}/%2A%3Acpu`)).body).to.deep.equal(shown);
  });

  it('return the whole list, sorted by name, whatever page is requested', async () => {
    const names = ['*:cpu', 'entity:web:*', 'linux:*', 'linux:cpu'];
    for (const path of [SILENCED, ALL, `${SILENCED}?limit=1&continue=bGludXg`]) {
      const reply = await api.get(path);
      expect(namesIn(reply)).to.deep.equal(names);
      expect(reply.headers).to.not.have.property('sensu-continue');
    }
  });

  const sublists: [string, string[]][] = [
    [`${SILENCED}/subscriptions/linux`, ['linux:*', 'linux:cpu']],
    [`${SILENCED}/subscriptions/lin`, []],
    [`${SILENCED}/subscriptions/entity%3Aweb`, ['entity:web:*']],
    [`${SILENCED}/checks/cpu`, ['*:cpu', 'linux:cpu']],
    [`${SILENCED}/checks/*`, ['entity:web:*']],
    [`${ALL}/checks/cpu`, ['*:cpu', 'linux:cpu']],
    ['/api/core/v2/namespaces/ghost/silenced/checks/cpu', []],
  ];
  for (const [path, names] of sublists) {
    it(`list the entries with exactly the subscription or check of ${path}`, async () => {
      const reply = await api.get(path);
      expect([reply.status, namesIn(reply)]).to.deep.equal([200, names]);
    });
  }

  const refused: [string, string, unknown, number, string][] = [
    ['GET', `${SILENCED}/none`, undefined, 404, 'silenced entry not found'],
    ['GET', `${SILENCED}/subscriptions`, undefined, 404, 'silenced entry not found'],
    ['GET', `${SILENCED}/a%20b`, undefined, 404, 'not found'],
    ['GET', `${ALL}/subscriptions/linux`, undefined, 404, 'not found'],
    ['DELETE', `${SILENCED}/none:*`, undefined, 404, 'not found'],
    ['POST', SILENCED, body({}), 400, 'must provide check or subscription'],
    ['POST', SILENCED, body({ subscription: 'linux' }), 409, 'resource already exists'],
    [
      'POST',
      SILENCED,
      { subscription: 'x' },
      400,
      'the namespace of the resource () does not match the namespace of the URI (default)',
    ],
    [
      'PUT',
      `${SILENCED}/linux:cpu`,
      { metadata: { namespace: 'default', name: 'linux:cpu' }, subscription: 'linux', check: 'disk' },
      400,
      'the name of the resource (linux:disk) does not match the name of the URI (linux:cpu)',
    ],
  ];
  for (const [method, path, sent, status, message] of refused) {
    it(`answer ${method} ${path} with ${status} ${message}`, async () => {
      const reply = await api.send({ method, path, body: sent });
      expect([reply.status, (reply.body as { message: string }).message]).to.deep.equal([status, message]);
    });
  }

  it('do not include PATCH', async () => {
    const { status, headers } = await api.send({ method: 'PATCH', path: `${SILENCED}/linux:*`, body: {} });
    expect([status, headers['allow']]).to.deep.equal([405, 'GET, PUT, DELETE']);
  });

  it('show an entry until the end of its last second', async () => {
    const entry = silencedWithDefaults({ subscription: 'short', begin: 1, expire_at: nowS() + 2 });
    const metadata = { ...entry.metadata, namespace: 'default', name: silencedName(entry) };
    const record: SilenceRecord = { ...entry, metadata, state: 'active' };
    await api.put('silenced', 'default', 'short:*', record);
    const shown = async () => [
      (await api.get(`${SILENCED}/short:*`)).status,
      namesIn(await api.get(SILENCED)).includes('short:*'),
      namesIn(await api.get(`${SILENCED}/subscriptions/short`)).length,
    ];
    await api.clock.advance((nowS() + 3) * 1_000 - 1 - api.clock.nowMs());
    expect(await shown()).to.deep.equal([200, true, 1]);
    await api.clock.advance(1);
    expect(await shown()).to.deep.equal([404, false, 0]);
  });

  it('are accessible with rights that name the entry or the list', async () => {
    const rules = [
      { verbs: ['get', 'update'], resources: ['silenced'], resource_names: ['linux:*', 'checks/cpu'] },
      { verbs: ['create'], resources: ['silenced'] },
    ];
    const authorization = `Bearer ${await api.userWith('ann', rules)}`;
    const asAnn = async (method: string, path: string, sent?: unknown) =>
      (await api.send({ method, path, headers: { authorization }, body: sent })).status;
    expect(await asAnn('GET', `${SILENCED}/linux%3A*`)).to.equal(200);
    expect(await asAnn('GET', `${SILENCED}/checks/cpu`)).to.equal(200);
    expect(await asAnn('GET', `${ALL}/checks/cpu`)).to.equal(200);
    const replacing = { metadata: { namespace: 'default', name: 'linux:*' }, subscription: 'linux' };
    expect(await asAnn('PUT', `${SILENCED}/linux:*`, replacing)).to.equal(201);
    expect((await api.get(`${SILENCED}/linux:*`)).body).to.have.property('creator', 'ann');
    expect(await asAnn('POST', SILENCED, body({ subscription: 'ann' }))).to.equal(201);
    for (const path of [
      `${SILENCED}/*:cpu`,
      `${SILENCED}/checks/*`,
      `${SILENCED}/subscriptions/linux`,
      SILENCED,
      ALL,
    ]) {
      expect(await asAnn('GET', path), path).to.equal(403);
    }
    expect(await asAnn('DELETE', `${SILENCED}/linux:*`)).to.equal(403);
  });
});
