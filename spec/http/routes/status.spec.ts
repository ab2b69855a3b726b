import { expect } from 'chai';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const ANONYMOUS = { authorization: '' };

describe('the status of the backend, without credentials', () => {
  const api = perSuite(() => ApiUnderTest.start());
  afterEach(() => {
    api.healthy = true;
  });

  const health = (query = '') => api.send({ path: `/health${query}`, headers: ANONYMOUS });
  const report = (Healthy: boolean, Err: string) => ({
    Alarms: null,
    ClusterHealth: [{ MemberID: 26, MemberIDHex: '1a', Name: 'default', Err, Healthy }],
    Header: { cluster_id: 1, member_id: 26, raft_term: 1 },
  });

  it('is healthy when the store answers', async () => {
    const { status, text, headers } = await health();
    expect([status, text]).to.deep.equal([200, `${JSON.stringify(report(true, ''))}\n`]);
    expect(headers['content-type']).to.equal('application/json');
  });

  it('reports an unhealthy store in the body only, unless the request is strict', async () => {
    api.healthy = false;
    const { status, body } = await health();
    expect([status, body]).to.deep.equal([200, report(false, 'the store did not answer in time')]);
    expect((await health('?strict=true')).status).to.equal(503);
    expect((await health('?strict=1')).status).to.equal(200);
    api.healthy = true;
    expect((await health('?strict=true')).status).to.equal(200);
  });

  const timeouts: [string, number][] = [
    ['', 3_000],
    ['?timeout=', 3_000],
    ['?timeout=2', 2_000],
    ['?timeout=%2B2', 2_000],
    ['?timeout=0', 15_000],
    ['?timeout=-1', 15_000],
    ['?timeout=3600', 15_000],
  ];
  for (const [query, expected] of timeouts) {
    it(`waits ${expected} ms for the store with /health${query}`, async () => {
      expect((await health(query)).status).to.equal(200);
      expect(api.probedMs).to.equal(expected);
    });
  }

  for (const [value, why] of [
    ['x', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    ['9999999999999999999999', 'value out of range'],
  ] as const) {
    it(`is 400 with a plain text for ?timeout=${value}`, async () => {
      const { status, text } = await health(`?timeout=${value}`);
      expect([status, text]).to.deep.equal([400, `strconv.Atoi: parsing "${value}": ${why}\n`]);
    });
  }

  it('includes readiness', async () => {
    const { status, text, headers } = await api.send({ path: '/ready', headers: ANONYMOUS });
    expect([status, text, headers['content-type']]).to.deep.equal([200, 'ready\n', 'text/plain; charset=utf-8']);
  });

  it('includes its own version besides the one that clients look for', async () => {
    const { status, body } = await api.send({ path: '/version', headers: ANONYMOUS });
    expect([status, body]).to.deep.equal([
      200,
      {
        etcd: { etcdserver: '3.5.5', etcdcluster: '3.5.0' },
        sensu_backend: '6.9.2',
        api_groups: { 'core/v2': 'v2.16.0', 'core/v3': 'v3.8.0' },
        mon_backend: '0.1.0',
      },
    ]);
  });
});
