import { expect } from 'chai';
import { ApiUnderTest, CLUSTER_UUID } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const CORE = '/api/core/v2';
const MEMBERS = `${CORE}/cluster/members`;

describe('the cluster', () => {
  const api = perSuite(() => ApiUnderTest.start());

  it('has one member, with the address at which the client reached it', async () => {
    const { status, body } = await api.get(`${MEMBERS}?timeout=2`);
    const urls = [`http://127.0.0.1:${api.port}`];
    expect([status, body]).to.deep.equal([
      200,
      {
        header: { cluster_id: 1, member_id: 26, raft_term: 1 },
        members: [{ ID: 26, name: 'default', peerURLs: urls, clientURLs: urls }],
      },
    ]);
  });

  it('has an id', async () => {
    expect(await api.get(`${CORE}/cluster/id`)).to.deep.include({ status: 200, text: JSON.stringify(CLUSTER_UUID) });
  });

  const FORM = 'application/x-www-form-urlencoded';
  const PEERS = 'peer-addrs=http%3A%2F%2Fa%3A1,http%3A%2F%2Fb%3A1';
  const MISSING = 'missing peer-addrs form value\n';
  const refused: [string, string, Record<string, string>, string | undefined, number, string][] = [
    ['POST', '', {}, undefined, 400, MISSING],
    ['POST', '', { 'content-type': FORM }, 'peer-addrs=', 400, MISSING],
    ['POST', '', { 'content-type': 'application/json' }, PEERS, 400, MISSING],
    ['POST', `?${PEERS}`, {}, undefined, 500, 'not supported\n'],
    ['POST', '', { 'content-type': FORM }, PEERS, 500, 'not supported\n'],
    ['POST', '', { 'content-type': `${FORM}; charset=utf-8` }, PEERS, 500, 'not supported\n'],
    ['PUT', '/1a', {}, undefined, 400, MISSING],
    ['PUT', `/1a?${PEERS}`, {}, undefined, 500, 'not supported\n'],
    ['PUT', `/zz?${PEERS}`, {}, undefined, 400, 'bad id (zz): strconv.ParseUint: parsing "zz": invalid syntax\n'],
    ['DELETE', '/1a', {}, undefined, 500, 'not supported\n'],
    ['DELETE', '/ffffffffffffffff', {}, undefined, 500, 'not supported\n'],
    [
      'DELETE',
      '/10000000000000000',
      {},
      undefined,
      400,
      'bad id (10000000000000000): strconv.ParseUint: parsing "10000000000000000": value out of range\n',
    ],
    ['GET', '?timeout=x', {}, undefined, 400, 'strconv.Atoi: parsing "x": invalid syntax\n'],
    ['DELETE', '/1a?timeout=x', {}, undefined, 400, 'strconv.Atoi: parsing "x": invalid syntax\n'],
  ];
  for (const [method, path, headers, text, status, answered] of refused) {
    it(`answers ${status} ${JSON.stringify(answered)} to ${method} ${path} with ${JSON.stringify([headers, text])}`, async () => {
      const sent = text === undefined ? {} : { text };
      const reply = await api.send({ method, path: `${MEMBERS}${path}`, headers, ...sent });
      expect([reply.status, reply.text]).to.deep.equal([status, answered]);
    });
  }

  it('is 403 for users without all rights', async () => {
    const rules = [{ verbs: ['*'], resources: ['checks', 'cluster', 'tessen'] }];
    const authorization = `Bearer ${await api.userWith('nearly', rules)}`;
    for (const path of ['cluster/members', 'cluster/id', 'tessen']) {
      const { status, body } = await api.send({ path: `${CORE}/${path}`, headers: { authorization } });
      expect([path, status, body]).to.deep.equal([path, 403, { message: 'unauthorized to perform action', code: 4 }]);
    }
  });
});
