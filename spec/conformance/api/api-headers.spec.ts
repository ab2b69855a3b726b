import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

describe('the headers of a request', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  const statusWith = async (bytes: number): Promise<number> =>
    (await api.request({ method: 'GET', path: '/ns/default/checks', headers: { 'x-long': 'x'.repeat(bytes) } })).status;

  it('may have 64 KiB; longer ones are answered with 431', async () => {
    expect(await statusWith(60 * 1024)).to.equal(200);
    expect(await statusWith(64 * 1024)).to.equal(431);
  });

  it('leave room for the token of a user with many groups', async () => {
    const groups = Array.from({ length: 1_000 }, (_, index) => `group-of-many-${index}`);
    const user = { username: 'ann', password: 'Passw0rd-of-ann', groups: [...groups, 'cluster-admins'] };
    expect((await api.post('/api/core/v2/users', user)).status).to.equal(201);
    const ann = await ApiClient.login(backend.apiPort, user);
    expect((await ann.get('/ns/default/checks')).status).to.equal(200);
    ann.close();
  });

  describe('leave room for the token of a user with', () => {
    const USERS = '/api/core/v2/users';
    const LONGEST_JSON = 32_768;
    /** The length without brackets and quotes. */
    const LONGEST_GROUP = LONGEST_JSON - 4;

    const most: [string, string[]][] = [
      ['one long group', ['g'.repeat(LONGEST_GROUP)]],
      ['a group of escaped characters', ['\u0001'.repeat(Math.floor(LONGEST_GROUP / 6))]],
      ['the most groups allowed', Array.from({ length: Math.floor(LONGEST_JSON / 6) }, () => 'abc')],
      ['a group of three-byte characters', ['\u20ac'.repeat(Math.floor(LONGEST_GROUP / 3))]],
    ];
    for (const [index, [what, groups]] of most.entries()) {
      it(`${what}, and for no more groups`, async () => {
        const user = { username: `u${index}`, password: 'Passw0rd-of-most', groups };
        expect((await api.post(USERS, user)).status).to.equal(201);
        const client = await ApiClient.login(backend.apiPort, user);
        expect((await client.get('/ns/default/checks')).status).to.equal(403);
        client.close();
        const refusal = { message: `groups must be at most ${LONGEST_JSON} bytes of JSON`, code: 1 };
        const more = { ...user, groups: [...groups, 'more'] };
        const ways = [
          await api.post(USERS, { ...more, username: 'other' }),
          await api.put(`${USERS}/${user.username}`, more),
          await api.put(`${USERS}/${user.username}/groups/more`, undefined),
        ];
        expect(ways.map(({ status, json }) => [status, json])).to.deep.equal(ways.map(() => [400, refusal]));
        expect((await api.get(`${USERS}/${user.username}`)).json).to.deep.include({ groups });
        expect((await api.delete(`${USERS}/${user.username}`)).status).to.equal(204);
        expect((await api.put(`${USERS}/${user.username}/reinstate`, undefined)).status).to.equal(201);
      });
    }
  });
});
