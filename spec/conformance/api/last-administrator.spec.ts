import { expect } from 'chai';
import { ADMIN, type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const USERS = '/api/core/v2/users';
const GROUP = 'cluster-admins';
const PASSWORD = 'second-pass';

describe('the last administrator', () => {
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  const ask = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    api.request({ method, path: `${USERS}/${path}`, body });
  const validationErrorOf = (username: string) => ({
    message: `${username} is the last administrator: grant all rights to another user first`,
    code: 1,
  });

  async function addAdministrator(username: string): Promise<void> {
    expect((await api.post(USERS, { username, password: PASSWORD, groups: [GROUP] })).status).to.equal(201);
  }

  const endings: [string, string, unknown][] = [
    ['DELETE', '', undefined],
    ['DELETE', `/groups/${GROUP}`, undefined],
    ['DELETE', '/groups', undefined],
    ['PUT', '', { username: 'admin', password: ADMIN.password }],
    ['PUT', '', { username: 'admin', password: ADMIN.password, groups: [GROUP], disabled: true }],
  ];
  for (const [method, path, body] of endings) {
    it(`remains administrator after ${method} ${path} ${JSON.stringify(body ?? '')}, unless there is another one`, async () => {
      const end = () => ask(method, `admin${path}`, body);
      await addAdministrator('gone');
      expect((await ask('DELETE', 'gone')).status).to.equal(204);
      const before = await ask('GET', 'admin');
      const refused = await end();
      expect([refused.status, refused.json]).to.deep.equal([400, validationErrorOf('admin')]);
      expect((await ask('GET', 'admin')).headers.etag).to.equal(before.headers.etag);
      await addAdministrator('other');
      expect((await end()).status).to.be.oneOf([201, 204]);
    });
  }

  it('may leave groups without administrator rights and change its password', async () => {
    expect((await ask('PUT', 'admin/groups/ops')).status).to.equal(201);
    expect((await ask('DELETE', 'admin/groups/ops')).status).to.equal(204);
    expect((await ask('PUT', 'admin', { username: 'admin', password: PASSWORD, groups: [GROUP] })).status).to.equal(
      201,
    );
  });

  /** A user who may delete users and is not an administrator. */
  async function operator(): Promise<ApiClient> {
    const metadata = { name: 'operator' };
    const rules = [{ verbs: ['delete'], resources: ['users'], resource_names: null }];
    await api.put('/api/core/v2/clusterroles/operator', { metadata, rules });
    await api.put('/api/core/v2/clusterrolebindings/operator', {
      metadata,
      subjects: [{ type: 'User', name: 'uma' }],
      role_ref: { type: 'ClusterRole', name: 'operator' },
    });
    expect((await api.post(USERS, { username: 'uma', password: PASSWORD })).status).to.equal(201);
    return ApiClient.login(backend.apiPort, { username: 'uma', password: PASSWORD });
  }

  it('is one of several users who are all deleted at once', async () => {
    const others = ['ann', 'bob', 'cid', 'dan', 'eve'];
    for (const username of others) await addAdministrator(username);
    const uma = await operator();
    const isHeld = backend.store.hold();
    const ends = ['', `/groups/${GROUP}`, '/groups'];
    const answers = ['admin', ...others].map((name, n) => uma.delete(`${USERS}/${name}${ends[n % ends.length]}`));
    await isHeld;
    backend.store.release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    uma.close();
    expect(statuses).to.have.members([204, 204, 204, 204, 204, 400]);
    const left = ['admin', ...others][statuses.indexOf(400)] ?? '';
    expect((await Promise.all(answers)).find(({ status }) => status === 400)?.json).to.deep.equal(
      validationErrorOf(left),
    );
  });

  describe('of roles and bindings', () => {
    const ROLES = '/api/core/v2/clusterroles';
    const BINDINGS = '/api/core/v2/clusterrolebindings';
    const EVERYTHING = [{ verbs: ['*'], resources: ['*'], resource_names: null }];
    const refusal = {
      message: 'no user with all rights would be left: grant all rights to a user in another way first',
      code: 1,
    };
    const named = (name: string, more: object): object => ({ metadata: { name }, ...more });
    const binding = (name: string, role: string, type: string, subject: string): object =>
      named(name, { subjects: [{ type, name: subject }], role_ref: { type: 'ClusterRole', name: role } });
    const made = async (path: string, body: object) => {
      expect((await api.post(path, body)).status).to.equal(201);
    };
    const narrowed = [{ verbs: ['update'], resources: ['clusterroles'] }];

    const endings: [string, string, object | undefined][] = [
      ['DELETE', `${BINDINGS}/cluster-admin`, undefined],
      ['PUT', `${BINDINGS}/cluster-admin`, binding('cluster-admin', 'view', 'Group', GROUP)],
      ['PUT', `${BINDINGS}/cluster-admin`, binding('cluster-admin', 'cluster-admin', 'Group', 'nobody')],
      ['PUT', `${BINDINGS}/cluster-admin`, binding('cluster-admin', 'cluster-admin', 'User', 'gone')],
      ['PATCH', `${BINDINGS}/cluster-admin`, { subjects: [{ type: 'User', name: 'nobody' }] }],
      ['DELETE', `${ROLES}/cluster-admin`, undefined],
      ['PUT', `${ROLES}/cluster-admin`, named('cluster-admin', { rules: narrowed })],
      ['PATCH', `${ROLES}/cluster-admin`, { rules: [{ verbs: ['*'], resources: ['*'], resource_names: ['a'] }] }],
    ];
    for (const [method, path, body] of endings) {
      it(`remains administrator after ${method} of ${path} ${JSON.stringify(body ?? '')}, unless another binding grants the rights`, async () => {
        const end = () => (method === 'PATCH' ? api.patch(path, body) : api.request({ method, path, body }));
        await addAdministrator('gone');
        expect((await ask('DELETE', 'gone')).status).to.equal(204);
        const before = await api.get(path);
        const refused = await end();
        expect([refused.status, refused.json]).to.deep.equal([400, refusal]);
        expect((await api.get(path)).headers.etag).to.equal(before.headers.etag);
        await made(ROLES, named('other', { rules: EVERYTHING }));
        await made(BINDINGS, binding('other', 'other', 'User', 'admin'));
        expect((await end()).status).to.be.oneOf([200, 201, 204]);
        expect((await api.get(USERS)).status).to.equal(200);
      });
    }

    it('allows changes of bindings and descriptions as long as one administrator remains', async () => {
      await addAdministrator('other');
      const role = named('cluster-admin', { rules: [...narrowed, ...EVERYTHING] });
      expect((await api.put(`${ROLES}/cluster-admin`, role)).status).to.equal(201);
      const bound = binding('cluster-admin', 'cluster-admin', 'User', 'other');
      expect((await api.put(`${BINDINGS}/cluster-admin`, bound)).status).to.equal(201);
      expect((await api.get(USERS)).status).to.equal(403);
    });

    it('remains administrator when both bindings that grant the rights are deleted at once', async () => {
      await made(BINDINGS, binding('other', 'cluster-admin', 'User', 'admin'));
      const isHeld = backend.store.hold();
      const answers = ['cluster-admin', 'other'].map((name) => api.delete(`${BINDINGS}/${name}`));
      await isHeld;
      backend.store.release();
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses).to.have.members([204, 400]);
    });
  });
});
