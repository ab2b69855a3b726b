import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const CORE = '/api/core/v2';
const PASSWORD = 'Passw0rd-1';
const HASH = '$2a$10$XOPbrlUPQdwdJUpSrIF6X.LbE14qsMmKGhM1A8W9iqDuy0Bp1P6hu';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

const role = (rules: object[]): object => ({ metadata: { name: 'r', namespace: 'default' }, rules });
const binding = (kind: string, user: string, name = 'r'): object => ({
  metadata: { name: user, namespace: 'default' },
  subjects: [{ type: 'User', name: user }],
  role_ref: { type: kind, name },
});
const inCluster = (name: string, more: object): object => ({ metadata: { name }, ...more });

describe('the rights of a user', () => {
  const backend = perTest(() => InProcessBackend.start());
  const admin = perTest(() => backend.login());

  beforeEach(async () => {
    await admin.post(`${CORE}/users`, { username: 'ann', password: PASSWORD });
  });

  async function tokenOf(username: string): Promise<string> {
    const headers = { authorization: basicHeader({ username, password: PASSWORD }) };
    const { json } = await admin.request({ method: 'GET', path: '/auth', headers });
    return `Bearer ${String(at(json, 'access_token'))}`;
  }

  const as = async (authorization: string, method: string, path: string, body?: unknown, type = {}) =>
    (await admin.request({ method, path, headers: { authorization, ...type }, body })).status;

  it('take effect and end immediately with the role and with its binding', async () => {
    const ann = await tokenOf('ann');
    const seen = () => as(ann, 'GET', '/ns/default/hooks');
    const list = [{ verbs: ['list'], resources: ['hooks'] }];
    expect(await seen()).to.equal(403);
    await admin.post('/ns/default/rolebindings', binding('Role', 'ann'));
    expect(await seen()).to.equal(403);
    await admin.post('/ns/default/roles', role(list));
    expect(await seen()).to.equal(200);
    const patch = { rules: [{ verbs: ['get'], resources: ['hooks'] }] };
    await admin.request({ method: 'PATCH', path: '/ns/default/roles/r', headers: MERGE_PATCH, body: patch });
    expect(await seen()).to.equal(403);
    await admin.put('/ns/default/roles/r', role(list));
    expect(await seen()).to.equal(200);
    await admin.delete('/ns/default/rolebindings/ann');
    expect(await seen()).to.equal(403);
    await admin.post(`${CORE}/clusterroles`, inCluster('all', { rules: list }));
    const subjects = [{ type: 'User', name: 'ann' }];
    await admin.post(
      `${CORE}/clusterrolebindings`,
      inCluster('ann', { subjects, role_ref: { type: 'ClusterRole', name: 'all' } }),
    );
    expect(await seen()).to.equal(200);
    await admin.delete(`${CORE}/clusterroles/all`);
    expect(await seen()).to.equal(403);
  });

  it('cannot be granted by a user who lacks them', async () => {
    const rights = [{ verbs: ['create', 'update'], resources: ['roles', 'rolebindings'] }];
    await admin.post('/ns/default/roles', role(rights));
    await admin.post('/ns/default/rolebindings', binding('Role', 'ann'));
    const ann = await tokenOf('ann');
    const more = [{ verbs: ['*'], resources: ['roles'] }];
    expect(await as(ann, 'PUT', '/ns/default/roles/r', role(more))).to.equal(403);
    expect(await as(ann, 'PATCH', '/ns/default/roles/r', { rules: more }, MERGE_PATCH)).to.equal(403);
    const cluster = binding('ClusterRole', 'bob', 'cluster-admin');
    expect(await as(ann, 'POST', '/ns/default/rolebindings', cluster)).to.equal(403);
    const path = '/ns/default/rolebindings/ann';
    const patch = { role_ref: { type: 'ClusterRole', name: 'view' } };
    expect(await as(ann, 'PATCH', path, patch, MERGE_PATCH)).to.equal(403);
    expect(await as(ann, 'PUT', '/ns/default/roles/r', role(rights))).to.equal(201);
    expect(await as(ann, 'POST', '/ns/default/rolebindings', binding('Role', 'bob'))).to.equal(201);
  });

  it('cannot be granted by a user who lacks some of them, even before the role exists', async () => {
    const rights = [{ verbs: ['create', 'update'], resources: ['roles', 'rolebindings', 'clusterrolebindings'] }];
    await admin.post('/ns/default/roles', role(rights));
    await admin.post('/ns/default/rolebindings', binding('Role', 'ann'));
    await admin.post(`${CORE}/clusterroles`, inCluster('c', { rules: rights }));
    const ofCluster = (name: string, ref: string): object =>
      inCluster(name, { subjects: [{ type: 'User', name: 'ann' }], role_ref: { type: 'ClusterRole', name: ref } });
    await admin.post(`${CORE}/clusterrolebindings`, ofCluster('ann', 'c'));
    const ann = await tokenOf('ann');
    const bindings = '/ns/default/rolebindings';
    expect(await as(ann, 'POST', bindings, binding('Role', 'eve', 'later'))).to.equal(403);
    expect(await as(ann, 'POST', bindings, binding('ClusterRole', 'eve', 'later'))).to.equal(403);
    expect(
      await as(ann, 'PATCH', `${bindings}/ann`, { role_ref: { type: 'Role', name: 'later' } }, MERGE_PATCH),
    ).to.equal(403);
    expect(await as(ann, 'POST', `${CORE}/clusterrolebindings`, ofCluster('eve', 'later'))).to.equal(403);
    const everything = {
      metadata: { name: 'owner', namespace: 'default' },
      rules: [{ verbs: ['*'], resources: ['*'] }],
    };
    await admin.post('/ns/default/roles', everything);
    await admin.post(bindings, {
      ...binding('Role', 'ann', 'owner'),
      metadata: { name: 'owner', namespace: 'default' },
    });
    expect(await as(ann, 'POST', bindings, binding('Role', 'eve', 'later'))).to.equal(201);
    expect(await as(ann, 'POST', `${CORE}/clusterrolebindings`, ofCluster('eve', 'later'))).to.equal(403);
  });

  it('in a namespace cannot be obtained by taking over a user who has them', async () => {
    const resources = ['users', 'apikeys'];
    await admin.post(`${CORE}/clusterroles`, inCluster('u', { rules: [{ verbs: ['*'], resources }] }));
    const subjects = [{ type: 'User', name: 'ann' }];
    await admin.post(
      `${CORE}/clusterrolebindings`,
      inCluster('ann', { subjects, role_ref: { type: 'ClusterRole', name: 'u' } }),
    );
    const users = `${CORE}/users`;
    await admin.post(users, { username: 'bob', password: PASSWORD });
    await admin.post(users, { username: 'eve', password: PASSWORD });
    await admin.post('/ns/default/roles', role([{ verbs: ['get'], resources: ['checks'] }]));
    await admin.post('/ns/default/rolebindings', {
      ...binding('Role', 'bob'),
      subjects: [
        { type: 'User', name: 'bob' },
        { type: 'Group', name: 'ops' },
      ],
    });
    const ann = await tokenOf('ann');
    const requests: [string, string, unknown][] = [
      ['PUT', `${users}/bob/reset_password`, { password_hash: HASH }],
      ['POST', `${CORE}/apikeys`, { username: 'bob' }],
      ['PUT', `${users}/eve/groups/ops`, undefined],
    ];
    for (const [method, path, body] of requests) {
      expect([path, await as(ann, method, path, body)]).to.deep.equal([path, 403]);
    }
    await admin.post('/ns/default/rolebindings', binding('Role', 'ann'));
    for (const [method, path, body] of requests) {
      expect([path, await as(ann, method, path, body)]).to.deep.equal([path, 201]);
    }
  });

  it('over users and keys do not extend the rights of their holder', async () => {
    const resources = ['users', 'apikeys'];
    await admin.post(`${CORE}/clusterroles`, inCluster('u', { rules: [{ verbs: ['*'], resources }] }));
    const subjects = [{ type: 'User', name: 'ann' }];
    const ref = { type: 'ClusterRole', name: 'u' };
    await admin.post(`${CORE}/clusterrolebindings`, inCluster('ann', { subjects, role_ref: ref }));
    const ann = await tokenOf('ann');
    const users = `${CORE}/users`;
    const refused: [string, string, unknown][] = [
      ['PUT', `${users}/ann/groups/cluster-admins`, undefined],
      ['POST', users, { username: 'bob', password: PASSWORD, groups: ['cluster-admins'] }],
      ['PUT', `${users}/admin`, { username: 'admin', password: PASSWORD }],
      ['PUT', `${users}/admin/reset_password`, { password_hash: HASH }],
      ['POST', `${CORE}/apikeys`, { username: 'admin' }],
    ];
    for (const [method, path, body] of refused) {
      expect([method, path, await as(ann, method, path, body)]).to.deep.equal([method, path, 403]);
    }
    expect(await as(ann, 'POST', users, { username: 'bob', password: PASSWORD, groups: ['plain'] })).to.equal(201);
    const made = await admin.request({
      method: 'POST',
      path: `${CORE}/apikeys`,
      headers: { authorization: ann },
      body: { username: 'bob' },
    });
    expect(made.status).to.equal(201);
    const key = String(made.headers.location);
    expect(await as(ann, 'PATCH', key, { username: 'admin' }, MERGE_PATCH)).to.equal(403);
    expect(await as(ann, 'PATCH', key, { username: 'ann' }, MERGE_PATCH)).to.equal(200);
  });

  describe('the right to change users', () => {
    const users = `${CORE}/users`;
    const subjects = [{ type: 'User', name: 'ann' }];

    beforeEach(async () => {
      const rules = [{ verbs: ['get', 'update'], resources: ['users'] }];
      await admin.post(`${CORE}/clusterroles`, inCluster('u', { rules }));
      const ref = { type: 'ClusterRole', name: 'u' };
      await admin.post(`${CORE}/clusterrolebindings`, inCluster('ann', { subjects, role_ref: ref }));
    });

    it('does not reinstate a disabled user who has more rights than the caller', async () => {
      await admin.post(users, { username: 'bob', password: PASSWORD });
      await admin.post(users, { username: 'eve', password: PASSWORD, groups: ['cluster-admins'] });
      for (const name of ['bob', 'eve']) expect((await admin.delete(`${users}/${name}`)).status).to.equal(204);
      const before = await admin.get(`${users}/eve`);
      const ann = await tokenOf('ann');
      expect(await as(ann, 'PUT', `${users}/eve/reinstate`)).to.equal(403);
      const after = await admin.get(`${users}/eve`);
      expect([after.json, after.headers.etag]).to.deep.equal([before.json, before.headers.etag]);
      expect(after.json).to.have.property('disabled', true);
      expect(await as(ann, 'PUT', `${users}/bob/reinstate`)).to.equal(201);
      expect(await as(ann, 'PUT', `${users}/ghost/reinstate`)).to.equal(404);
      expect((await admin.put(`${users}/eve/reinstate`, undefined)).status).to.equal(201);
    });

    it('does not add a user with more rights than the caller to a group, even to one without rights', async () => {
      await admin.post(users, { username: 'bob', password: PASSWORD });
      const before = await admin.get(`${users}/admin`);
      const ann = await tokenOf('ann');
      expect(await as(ann, 'PUT', `${users}/admin/groups/plain`)).to.equal(403);
      expect((await admin.get(`${users}/admin`)).headers.etag).to.equal(before.headers.etag);
      expect(await as(ann, 'PUT', `${users}/bob/groups/plain`)).to.equal(201);
      expect(await as(ann, 'PUT', `${users}/bob/groups/cluster-admins`)).to.equal(403);
    });
  });
});
