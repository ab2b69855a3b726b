import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const KEYS = '/api/core/v2/apikeys';
const USERS = '/api/core/v2/users';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

describe('an API key', () => {
  const backend = perTest(() => InProcessBackend.start());
  let api: ApiClient;
  let key: string;

  beforeEach(async () => {
    api = await backend.login();
    await api.post(USERS, { username: 'ann', password: 'Passw0rd-1', groups: ['cluster-admins'] });
    key = await keyOf('ann');
  });

  async function keyOf(username: string): Promise<string> {
    const { status, headers, text } = await api.post(KEYS, { username });
    expect([status, text]).to.deep.equal([201, '']);
    expect(headers.location).to.match(/^\/api\/core\/v2\/apikeys\/[0-9a-f-]{36}$/);
    return String(headers.location).slice(KEYS.length + 1);
  }

  const as = async (secret: string, path = '/ns/default/checks', method = 'GET', body?: unknown) =>
    (await api.request({ method, path, headers: { authorization: `Key ${secret}` }, body })).status;

  it('is shown once; answers, store and ledger never contain it afterwards', async () => {
    const { json: list } = await api.get(KEYS);
    const { json: one, text } = await api.get(`${KEYS}/${key}`);
    expect(list).to.deep.equal([one]);
    expect(one).to.have.all.keys('metadata', 'username', 'created_at');
    const stored = [...backend.store.range('resources', { from: 'apikeys/', to: 'apikeys0' })];
    expect(stored).to.have.length(1);
    expect(at(stored[0]?.value, 'hash')).to.match(/^[0-9a-f]{64}$/);
    const entries = await api.ledger({ actor: 'apikeys' });
    expect(entries.map(({ event, cause }) => [event, cause])).to.deep.equal([['resource.created', { user: 'admin' }]]);
    expect(text + JSON.stringify([stored, entries])).to.not.include(key);
    expect(JSON.stringify(backend.log)).to.not.include(key);
  });

  it('is addressed by its value or by its shown name, which does not authenticate', async () => {
    const name = String(at((await api.get(`${KEYS}/${key}`)).json, 'metadata', 'name'));
    expect([await as(key), await as(name)]).to.deep.equal([200, 401]);
    for (const id of [name, key]) {
      const body = { metadata: { name, labels: { id } } };
      const patched = await api.request({ method: 'PATCH', path: `${KEYS}/${id}`, headers: MERGE_PATCH, body });
      expect([patched.status, at(patched.json, 'metadata', 'labels', 'id')]).to.deep.equal([200, id]);
      expect(patched.headers.etag).to.equal((await api.get(`${KEYS}/${name}`)).headers.etag);
    }
    expect((await api.delete(`${KEYS}/${name}`)).status).to.equal(204);
    expect([await as(key), (await api.get(`${KEYS}/${key}`)).status]).to.deep.equal([401, 404]);
  });

  it('has the current rights of its user at every moment', async () => {
    expect(await as(key)).to.equal(200);
    await api.delete(`${USERS}/ann/groups`);
    expect(await as(key)).to.equal(403);
    await api.delete(`${USERS}/ann`);
    expect(await as(key)).to.equal(401);
    await api.put(`${USERS}/ann/reinstate`, {});
    expect(await as(key)).to.equal(403);
    expect(await as(key, `${USERS}/ann`)).to.equal(200);
  });

  it('keeps its hash and creation time when a patch sends other ones', async () => {
    const before = (await api.get(`${KEYS}/${key}`)).json;
    const body = { hash: '00', created_at: 1, metadata: { created_by: 'eve' } };
    const { status, json } = await api.request({ method: 'PATCH', path: `${KEYS}/${key}`, headers: MERGE_PATCH, body });
    expect([status, json]).to.deep.equal([200, before]);
    expect(await as(key)).to.equal(200);
  });

  it('cannot create other keys, whatever its user may do', async () => {
    for (const body of [{ username: 'ann' }, '{']) expect(await as(key, KEYS, 'POST', body)).to.equal(401);
  });

  it('needs an existing user, whatever name is sent', async () => {
    for (const username of ['', 'ghost', 'a/b', '../users/ann', 'x'.repeat(5_000)]) {
      const { status, json } = await api.post(KEYS, { username });
      expect([status, at(json, 'message')]).to.deep.equal([400, 'user does not exist']);
    }
  });

  it('survives a restart', async () => {
    await backend.restart();
    api = await backend.login();
    expect(await as(key)).to.equal(200);
  });
});
