import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const USERS = '/api/core/v2/users';
const FIRST = 'first-pass';
const SECOND = 'second-pass';
const SECOND_HASH = hashSync(SECOND, { cost: 4 });

describe('users', () => {
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  beforeEach(async () => {
    const user = { username: 'ann', password: FIRST, groups: ['system:agents', 'cluster-admins'] };
    expect((await api.post(USERS, user)).status).to.equal(201);
  });

  async function loginStatus(password: string): Promise<number> {
    const headers = { authorization: basicHeader({ username: 'ann', password }) };
    const client = new ApiClient(backend.apiPort);
    const { status } = await client.request({ method: 'GET', path: '/auth/test', headers });
    client.close();
    return status;
  }

  async function handshakeStatus(password: string): Promise<number> {
    try {
      const agent = await backend.connect({ name: 'a1', credentials: { username: 'ann', password } });
      expect(agent.isOpen).to.equal(true);
      return 101;
    } catch (error) {
      if (error instanceof HandshakeRefused) return error.status;
      throw error;
    }
  }

  async function tokenOf(password: string): Promise<string> {
    const headers = { authorization: basicHeader({ username: 'ann', password }) };
    const { json } = await api.request({ method: 'GET', path: '/auth', headers });
    return `Bearer ${String(at(json, 'access_token'))}`;
  }

  it('lose access by password, token and handshake when they are disabled; connected agents stay connected', async () => {
    const authorization = await tokenOf(FIRST);
    const seen = async () => (await api.request({ method: 'GET', path: USERS, headers: { authorization } })).status;
    const agent = await backend.connect({ name: 'a0', credentials: { username: 'ann', password: FIRST } });
    expect([await seen(), await loginStatus(FIRST), await handshakeStatus(FIRST)]).to.deep.equal([200, 200, 101]);

    for (let time = 1; time <= 2; time += 1) expect((await api.delete(`${USERS}/ann`)).status).to.equal(204);
    expect([await seen(), await loginStatus(FIRST), await handshakeStatus(FIRST)]).to.deep.equal([401, 401, 401]);
    await agent.ping('still here');
    expect((await api.get(`${USERS}/ann`)).json).to.have.property('disabled', true);

    expect((await api.put(`${USERS}/ann/reinstate`, undefined)).status).to.equal(201);
    expect([await seen(), await loginStatus(FIRST), await handshakeStatus(FIRST)]).to.deep.equal([401, 200, 101]);
  });

  const changes: [string, string, object][] = [
    ['changed by its owner', 'ann/password', { password: FIRST, password_hash: SECOND_HASH }],
    ['reset', 'ann/reset_password', { password_hash: SECOND_HASH }],
    ['replaced with the user', 'ann', { username: 'ann', password: SECOND, groups: ['system:agents'] }],
  ];
  for (const [what, path, body] of changes) {
    it(`whose password is ${what} log in with the new password only, immediately`, async () => {
      expect([await loginStatus(FIRST), await handshakeStatus(FIRST)]).to.deep.equal([200, 101]);
      expect((await api.put(`${USERS}/${path}`, body)).status).to.equal(201);
      expect([await loginStatus(FIRST), await handshakeStatus(FIRST)]).to.deep.equal([401, 401]);
      expect([await loginStatus(SECOND), await handshakeStatus(SECOND)]).to.deep.equal([200, 101]);
    });
  }

  it('change a password once when two changes use the same old one at the same time', async () => {
    const change = { password: FIRST, password_hash: SECOND_HASH };
    const answers = await Promise.all([1, 2, 3].map(() => api.put(`${USERS}/ann/password`, change)));
    expect(answers.map(({ status }) => status)).to.have.members([201, 400, 400]);
  });

  it('are created once when several requests create the same one at the same time', async () => {
    const user = { username: 'bob', password_hash: SECOND_HASH };
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.post(USERS, user)));
    expect(answers.map(({ status }) => status)).to.have.members([201, ...Array<number>(11).fill(409)]);
  });

  it('keep all groups that are added at the same time', async () => {
    const groups = Array.from({ length: 12 }, (_, n) => `g${n}`);
    await Promise.all(groups.map((group) => api.put(`${USERS}/ann/groups/${group}`, undefined)));
    expect(at((await api.get(`${USERS}/ann`)).json, 'groups')).to.include.members(groups);
  });

  it('are recorded in the ledger with the changed members; ledger and log contain no password and no hash', async () => {
    await api.put(`${USERS}/ann/reset_password`, { password_hash: SECOND_HASH });
    await api.put(`${USERS}/ann/groups/ops`, undefined);
    await api.put(`${USERS}/ann/groups/ops`, undefined);
    await api.delete(`${USERS}/ann`);
    await loginStatus('wrong-guess');
    const entries = await api.ledger({ actor: 'users', key: 'ann' });
    expect(entries.map(({ event, cause, details }) => [event, cause, details?.['changed']])).to.deep.equal([
      ['resource.created', { user: 'admin' }, []],
      ['resource.updated', { user: 'admin' }, ['password_hash']],
      ['resource.updated', { user: 'admin' }, ['groups']],
      ['resource.updated', { user: 'admin' }, ['disabled']],
    ]);
    const said = JSON.stringify([entries, backend.log.lines]);
    for (const secret of [FIRST, SECOND, SECOND_HASH, 'wrong-guess', '$2']) expect(said).to.not.include(secret);
  });
});
