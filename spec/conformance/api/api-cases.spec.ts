import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ADMIN, type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const CORE = '/api/core/v2';
const PASSWORD = 'first-pass';
const HASH = hashSync(PASSWORD, { cost: 4 });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const REFRESH_GRACE_MS = 10_000;
const ACCESS_LIFE_MS = 300_000;

const claimsOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as unknown;

const messageOf = ({ status, json }: ApiAnswer): unknown[] => [status, at(json, 'message')];

/** The cases of section 16 of the REST API that the recordings lack; case 51 is in `api-status.spec.ts`. */
describe('the conformance cases of the REST API', () => {
  let backend: InProcessBackend;
  let api: ApiClient;
  let anonymous: ApiClient;

  async function start(configure: (config: BackendConfig) => BackendConfig = (config) => config): Promise<void> {
    backend = await InProcessBackend.start({ configure });
    api = await backend.login();
    anonymous = new ApiClient(backend.apiPort);
  }

  afterEach(async () => {
    anonymous.close();
    await backend.stop();
  });

  /** Sends requests with this `authorization` header. */
  const send = (authorization: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    anonymous.request({ method, path, headers: { authorization }, body });

  const statusOf = async (authorization: string, method: string, path: string, body?: unknown): Promise<number> =>
    (await send(authorization, method, path, body)).status;

  const login = (username: string, password = PASSWORD): Promise<ApiAnswer> =>
    send(basicHeader({ username, password }), 'GET', '/auth');

  async function bearer(username: string, password = PASSWORD): Promise<string> {
    return `Bearer ${String(at((await login(username, password)).json, 'access_token'))}`;
  }

  const refresh = (access: string, refresh_token: unknown): Promise<ApiAnswer> =>
    send(access, 'POST', '/auth/token', { refresh_token });

  async function made(path: string, body: unknown): Promise<void> {
    const { status, text } = await api.post(`${CORE}/${path}`, body);
    expect(status, `${path} ${text}`).to.equal(201);
  }

  const makeUser = (username: string, groups: string[] = []): Promise<void> =>
    made('users', { username, password_hash: HASH, groups });

  /** Grants `username` the rules in `namespace`. */
  async function allow(username: string, namespace: string, rule: object): Promise<void> {
    const metadata = { name: username, namespace };
    await made(`namespaces/${namespace}/roles`, { metadata, rules: [rule] });
    const subjects = [{ type: 'User', name: username }];
    await made(`namespaces/${namespace}/rolebindings`, {
      metadata,
      subjects,
      role_ref: { type: 'Role', name: username },
    });
  }

  const check = (namespace: string, name: string): object => ({ metadata: { name, namespace }, interval: 60 });

  it('case 35: require passwords of at least 8 characters, which are never shown, and names in lower case', async () => {
    await start();
    const made = (username: string, password: string) => api.post(`${CORE}/users`, { username, password });
    expect((await made('bob', '1234567')).status).to.equal(400);
    expect((await made('Bob', '12345678')).status).to.equal(400);
    expect((await made('bob', '12345678')).status).to.equal(201);
    const shown = (await api.get(`${CORE}/users/bob`)).json;
    expect(shown).to.deep.equal({ username: 'bob', disabled: false });
  });

  it('case 36: disable a deleted user until it is reinstated', async () => {
    await start();
    await makeUser('bob');
    expect((await api.delete(`${CORE}/users/bob`)).status).to.equal(204);
    expect((await api.get(`${CORE}/users/bob`)).json).to.have.property('disabled', true);
    expect((await login('bob')).status).to.equal(401);
    expect((await api.put(`${CORE}/users/bob/reinstate`, undefined)).status).to.equal(201);
    expect((await login('bob')).status).to.equal(200);
  });

  it('case 37: let a plain user read its own user and change its own password, and nothing else', async () => {
    await start();
    await makeUser('bob');
    const bob = await bearer('bob');
    const password_hash = hashSync('second-pass', { cost: 4 });
    expect(await statusOf(bob, 'PUT', `${CORE}/users/bob/reset_password`, { password_hash })).to.equal(403);
    expect(await statusOf(bob, 'GET', `${CORE}/users/bob`)).to.equal(200);
    expect(await statusOf(bob, 'GET', `${CORE}/users`)).to.equal(403);
    const change = { password: PASSWORD, password_hash };
    expect(await statusOf(bob, 'PUT', `${CORE}/users/bob/password`, change)).to.equal(201);
    expect((await login('bob', 'second-pass')).status).to.equal(200);
  });

  it('case 38: issue a token of five minutes for the right password only', async () => {
    await start();
    const { status, json } = await login(ADMIN.username, ADMIN.password);
    expect(status).to.equal(200);
    expect(at(json, 'expires_at')).to.equal(backend.nowS + 300);
    expect(at(claimsOf(String(at(json, 'access_token'))), 'groups')).to.deep.equal(['cluster-admins', 'system:users']);
    expect((await login('../users/admin', ADMIN.password)).status).to.equal(401);
    const wrong = basicHeader({ username: ADMIN.username, password: 'wrong-pass' });
    expect(await statusOf(wrong, 'GET', '/auth/test')).to.equal(401);
  });

  it('case 39: renew an expired access token once, with the refresh token of the same user', async () => {
    await start();
    await makeUser('bob');
    const [first, ofBob] = [await login(ADMIN.username, ADMIN.password), await login('bob')];
    const access = `Bearer ${String(at(first.json, 'access_token'))}`;
    await backend.clock.advance(ACCESS_LIFE_MS + 2_000);
    expect(await statusOf(access, 'GET', `${CORE}/users`)).to.equal(401);
    expect((await refresh(access, at(ofBob.json, 'refresh_token'))).status).to.equal(401);
    const second = await refresh(access, at(first.json, 'refresh_token'));
    expect(second.status).to.equal(200);
    expect(at(second.json, 'refresh_token')).to.not.equal(at(first.json, 'refresh_token'));
    const renewed = `Bearer ${String(at(second.json, 'access_token'))}`;
    expect(await statusOf(renewed, 'GET', `${CORE}/users`)).to.equal(200);
    await backend.clock.advance(REFRESH_GRACE_MS + 1_000);
    expect((await refresh(access, at(first.json, 'refresh_token'))).status).to.equal(400);
    expect((await refresh(renewed, at(second.json, 'refresh_token'))).status).to.not.equal(200);
    expect(await statusOf(renewed, 'GET', `${CORE}/users`)).to.equal(401);
  });

  it('case 40: renew nothing after a logout', async () => {
    await start();
    const { json } = await login(ADMIN.username, ADMIN.password);
    const access = `Bearer ${String(at(json, 'access_token'))}`;
    const refresh_token = at(json, 'refresh_token');
    expect(await statusOf(access, 'POST', '/auth/logout', { refresh_token })).to.equal(200);
    expect((await refresh(access, refresh_token)).status).to.be.within(400, 401);
  });

  it('case 41: create an API key for an existing user, valid until it is deleted', async () => {
    await start();
    const path = `${CORE}/apikeys`;
    const created = await api.post(path, { username: 'admin' });
    expect(created.status).to.equal(201);
    const location = String(created.headers.location);
    expect(location).to.match(/^\/api\/core\/v2\/apikeys\//);
    const key = location.slice(location.lastIndexOf('/') + 1);
    expect(key).to.match(UUID);
    expect(await statusOf(`Key ${key}`, 'GET', `${CORE}/users`)).to.equal(200);
    expect(await statusOf(`Key ./${key}`, 'GET', `${CORE}/users`)).to.equal(401);
    expect(await statusOf(`Key ${key}`, 'POST', path, { username: 'admin' })).to.equal(401);
    expect((await api.post(path, { username: 'nobody' })).status).to.equal(400);
    expect((await api.delete(location)).status).to.equal(204);
    expect(await statusOf(`Key ${key}`, 'GET', `${CORE}/users`)).to.equal(401);
  });

  it('case 42: apply the verbs of a namespaced role in its namespace only', async () => {
    await start();
    await made('namespaces', { name: 'dev' });
    await made('namespaces/dev/checks', check('dev', 'c1'));
    await made('namespaces/default/checks', check('default', 'c1'));
    await makeUser('bob');
    await allow('bob', 'dev', { verbs: ['get'], resources: ['checks'] });
    const bob = await bearer('bob');
    expect(await statusOf(bob, 'GET', `${CORE}/namespaces/dev/checks/c1`)).to.equal(200);
    expect(await statusOf(bob, 'PUT', `${CORE}/namespaces/dev/checks/c1`, check('dev', 'c1'))).to.equal(403);
    expect(await statusOf(bob, 'GET', `${CORE}/namespaces/default/checks/c1`)).to.equal(403);
    expect(await statusOf(bob, 'GET', `${CORE}/checks`)).to.equal(403);
  });

  it('case 43: deny lists and POST to a rule with resource names', async () => {
    await start();
    await made('namespaces', { name: 'dev' });
    await made('namespaces/dev/checks', check('dev', 'c1'));
    await makeUser('bob');
    await allow('bob', 'dev', { verbs: ['*'], resources: ['checks'], resource_names: ['c1'] });
    const bob = await bearer('bob');
    const checks = `${CORE}/namespaces/dev/checks`;
    expect(await statusOf(bob, 'GET', `${checks}/c1`)).to.equal(200);
    expect(await statusOf(bob, 'PUT', `${checks}/c1`, check('dev', 'c1'))).to.equal(201);
    expect(await statusOf(bob, 'GET', checks)).to.equal(403);
    expect(await statusOf(bob, 'POST', checks, check('dev', 'c2'))).to.equal(403);
  });

  it('case 44: name a missing role in a denial, and ignore it where another role allows the request', async () => {
    await start();
    await makeUser('bob');
    const subjects = [{ type: 'User', name: 'bob' }];
    const bind = (name: string, role: string) =>
      made('clusterrolebindings', { metadata: { name }, subjects, role_ref: { type: 'ClusterRole', name: role } });
    await bind('a-gone', 'gone');
    const bob = await bearer('bob');
    const asked = () => send(bob, 'GET', `${CORE}/namespaces/default/checks`);
    expect(messageOf(await asked())).to.deep.equal([403, 'cluster role not found: gone']);
    await bind('b-view', 'view');
    expect((await asked()).status).to.equal(200);
  });

  it('case 45: list exactly the one namespace in which a user may get anything', async () => {
    await start();
    await made('namespaces', { name: 'dev' });
    await makeUser('bob');
    await allow('bob', 'dev', { verbs: ['get'], resources: ['checks'] });
    expect((await send(await bearer('bob'), 'GET', `${CORE}/namespaces`)).json).to.deep.equal([{ name: 'dev' }]);
  });

  it('case 53: accept a role type in lower case and verbs joined by commas', async () => {
    await start();
    const binding = (type: string) => ({
      metadata: { name: 'b' },
      subjects: [{ type: 'group', name: 'ops' }],
      role_ref: { type, name: 'view' },
    });
    const path = `${CORE}/clusterrolebindings/b`;
    expect((await api.put(path, binding('clusterRole'))).status).to.equal(201);
    expect(at((await api.get(path)).json, 'role_ref', 'type')).to.equal('ClusterRole');
    expect((await api.put(path, binding('clusterrole'))).status).to.equal(400);
    const rules = [{ verbs: ['get,list'], resources: ['checks'] }];
    await made('clusterroles', { metadata: { name: 'r' }, rules });
    const stored = (await api.get(`${CORE}/clusterroles/r`)).json;
    expect(at(stored, 'rules', '0', 'verbs')).to.deep.equal(['get', 'list']);
  });

  it('case 54: show the cluster id to users with full rights only, unchanged after a restart', async () => {
    await start();
    const id = (await api.get(`${CORE}/cluster/id`)).json;
    expect(id).to.match(UUID);
    await makeUser('bob');
    await made('clusterroles', { metadata: { name: 'r' }, rules: [{ verbs: ['*'], resources: ['checks'] }] });
    const subjects = [{ type: 'User', name: 'bob' }];
    await made('clusterrolebindings', {
      metadata: { name: 'r' },
      subjects,
      role_ref: { type: 'ClusterRole', name: 'r' },
    });
    expect(await statusOf(await bearer('bob'), 'GET', `${CORE}/cluster/id`)).to.equal(403);
    await backend.restart();
    api = await backend.login();
    expect((await api.get(`${CORE}/cluster/id`)).json).to.equal(id);
  });

  it('case 55: refuse a new entity at the limit of 100, and accept updates of existing ones', async () => {
    await start((config) => ({ ...config, entityLimit: 100 }));
    const proxy = (name: string): object => ({ entity_class: 'proxy', metadata: { name, namespace: 'default' } });
    const names = Array.from({ length: 100 }, (_, index) => `e${index}`);
    const answers = await Promise.all(names.map((name) => api.post('/ns/default/entities', proxy(name))));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const { status, json } = await api.post('/ns/default/entities', proxy('e100'));
    expect([status, at(json, 'code')]).to.deep.equal([402, 6]);
    expect((await api.put('/ns/default/entities/e1', proxy('e1'))).status).to.equal(200);
  });
});
