import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { roleBindingWithDefaults } from '../../../src/resources/role-binding.ts';
import { roleWithDefaults } from '../../../src/resources/role.ts';
import { ADMIN_KEY, ADMIN_PASSWORD, ApiUnderTest, basic, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const USERS = '/api/core/v2/users';
const HASH = hashSync('second-pass', { cost: 4 });
const NO_SUCH_HASH = 'password_hash must be a bcrypt hash of cost 4 to 14';

describe('a user', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const put = (path: string, body: unknown): Promise<Reply> =>
    api.send({ method: 'PUT', path: `${USERS}/${path}`, body });

  it('is shown without the password hash, with a tag that changes with it', async () => {
    await put('eve', { username: 'eve', password_hash: HASH, groups: ['ops', 'ops'] });
    const shown = await api.get(`${USERS}/eve`);
    expect(shown.body).to.deep.equal({ username: 'eve', groups: ['ops', 'ops'], disabled: false });
    await put('eve', { username: 'eve', password: 'second-pass', groups: ['ops', 'ops'] });
    expect((await api.get(`${USERS}/eve`)).headers.etag).to.not.equal(shown.headers.etag);
    const { text } = await api.get(USERS);
    expect(text).to.include('"eve"').and.not.include('$2').and.not.include('password');
  });

  const refused: [string, string, object, string][] = [
    ['a hash that is none', 'u', { username: 'u', password_hash: 'plain' }, NO_SUCH_HASH],
    ['a hash too costly to verify', 'u', { username: 'u', password_hash: HASH.replace('$04$', '$15$') }, NO_SUCH_HASH],
    [
      'a hash of a cost there is not',
      'u',
      { username: 'u', password_hash: HASH.replace('$04$', '$03$') },
      NO_SUCH_HASH,
    ],
    ['a hash that is cut', 'u', { username: 'u', password_hash: HASH.slice(0, -1) }, NO_SUCH_HASH],
    [
      'a hash of another password',
      'u',
      { username: 'u', password: 'first-pass', password_hash: HASH },
      'hashed password does not the match the cleartext password, only one of those should be provided',
    ],
    ['neither', 'u', { username: 'u' }, 'a password or its hash is required'],
    ['seven bytes', 'u', { username: 'u', password: '1234567' }, 'password length must be at least 8 characters'],
    ['the name ..', '%2e%2e', { username: '..' }, 'username cannot contain spaces or special characters'],
    ['an upper-case name', 'Bob', { username: 'Bob' }, 'username cannot contain spaces or special characters'],
    ['another name', 'u', { username: 'v' }, 'the username (v) does not match the username on the request (u)'],
    ['a reset to nothing', 'eve/reset_password', {}, 'a password or its hash is required'],
    ['a reset to an invalid hash', 'eve/reset_password', { password_hash: 'x' }, NO_SUCH_HASH],
    ['a change by nothing', 'eve/password', {}, 'resource is invalid: wrong password for user eve'],
    [
      'a change by a wrong password',
      'eve/password',
      { password: 'wrong', password_hash: HASH },
      'resource is invalid: wrong password for user eve',
    ],
    ['a change to nothing', 'eve/password', { password: 'second-pass' }, 'a password or its hash is required'],
  ];
  for (const [what, path, body, message] of refused) {
    it(`is 400 with ${what}`, async () => {
      const calls = api.calls.length;
      const reply = await put(path, body);
      expect([reply.status, reply.body]).to.deep.equal([400, { message, code: 1 }]);
      expect(api.calls).to.have.lengthOf(calls);
    });
  }

  const hashes: [string, string][] = [
    ['$2a$', HASH.replace(/^\$2.\$/, '$2a$')],
    ['$2b$', HASH.replace(/^\$2.\$/, '$2b$')],
    ['$2y$', HASH.replace(/^\$2.\$/, '$2y$')],
  ];
  for (const [prefix, hash] of hashes) {
    it(`can log in with a hash that begins with ${prefix}`, async () => {
      await put('any', { username: 'any', password: 'second-pass', password_hash: hash });
      expect(await api.login('any', 'second-pass')).to.be.a('string');
    });
  }

  it('is authenticated by the first 72 bytes of the password', async () => {
    const password = 'p'.repeat(80);
    expect((await put('long', { username: 'long', password })).status).to.equal(201);
    expect(await api.login('long', `${'p'.repeat(72)}x`)).to.be.a('string');
  });

  it('is 404 for an unknown and for an invalid name', async () => {
    for (const name of ['ghost', 'a%20b', 'x'.repeat(700)]) {
      for (const [method, path, body] of [
        ['GET', name, undefined],
        ['DELETE', name, undefined],
        ['PUT', `${name}/reinstate`, undefined],
        ['PUT', `${name}/groups/a`, undefined],
        ['DELETE', `${name}/groups`, undefined],
        ['PUT', `${name}/password`, { password: 'x', password_hash: HASH }],
        ['PUT', `${name}/reset_password`, { password_hash: HASH }],
      ] as const) {
        const reply = await api.send({ method, path: `${USERS}/${path}`, body });
        expect([path, reply.status, reply.body]).to.deep.equal([path, 404, { message: 'not found', code: 2 }]);
      }
    }
  });

  it('cannot join a group whose name cannot be decoded, but can join one that is spelled like its escape', async () => {
    const before = api.calls.length;
    for (const method of ['PUT', 'DELETE']) {
      const reply = await api.send({ method, path: `${USERS}/eve/groups/%ff` });
      expect([method, reply.status, reply.body]).to.deep.equal([method, 404, { message: 'not found', code: 2 }]);
    }
    expect(api.calls.length).to.equal(before);
    expect((await api.send({ method: 'PUT', path: `${USERS}/eve/groups/%25ff` })).status).to.equal(201);
    expect((await api.send({ method: 'DELETE', path: `${USERS}/eve/groups/%25ff` })).status).to.equal(204);
  });

  it('is edited as the path describes', async () => {
    await put('fay', { username: 'fay', password_hash: HASH, groups: ['x', 'y'] });
    const edits: [string, string, number, string[] | undefined, boolean][] = [
      ['DELETE', 'fay', 204, ['x', 'y'], true],
      ['PUT', 'fay/reinstate', 201, ['x', 'y'], false],
      ['PUT', 'fay/groups/a%20b', 201, ['x', 'y', 'a b'], false],
      ['DELETE', 'fay/groups/x', 204, ['y', 'a b'], false],
      ['DELETE', 'fay/groups', 204, undefined, false],
    ];
    for (const [method, path, status, expectedGroups, isDisabled] of edits) {
      expect(await api.send({ method, path: `${USERS}/${path}` })).to.include({ status });
      const { groups, disabled } = (await api.get(`${USERS}/fay`)).body as { groups?: string[]; disabled: boolean };
      expect([groups, disabled]).to.deep.equal([expectedGroups, isDisabled]);
    }
    const { body } = await api.get('/api/mon/v1/ledger?actor=users&key=fay');
    const { entries } = body as { entries: { cause: object }[] };
    expect(entries.map(({ cause }) => cause)).to.deep.equal(Array(6).fill({ user: 'admin' }));
  });
});

describe('a guess at the current password', () => {
  const api = perSuite(() => ApiUnderTest.start());
  let token: string;
  before(async () => {
    token = await api.userWith('ann', [{ verbs: ['*'], resources: ['localselfuser'] }]);
    await api.put(
      'clusterrolebindings',
      undefined,
      'system:user',
      roleBindingWithDefaults({
        metadata: { name: 'system:user' },
        subjects: [{ type: 'Group', name: 'system:users' }],
        role_ref: { type: 'ClusterRole', name: 'ann' },
      }),
    );
  });

  it('counts like a failed login, for logins too, and is allowed again after 30 s', async () => {
    const guess = (password: string): Promise<Reply> =>
      api.send({
        method: 'PUT',
        path: `${USERS}/ann/password`,
        headers: { authorization: `Bearer ${token}` },
        body: { password, password_hash: HASH },
      });
    const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(`guess ${n}`)));
    const wrong = replies.filter(({ status }) => status === 400);
    expect(wrong.map(({ body }) => body)).to.deep.equal(
      Array(10).fill({ message: 'resource is invalid: wrong password for user ann', code: 1 }),
    );
    for (const { status, headers } of replies.filter((reply) => !wrong.includes(reply))) {
      expect([status, headers['retry-after']]).to.deep.equal([429, '30']);
    }
    expect(await api.send({ path: '/auth', headers: { authorization: basic('ann', 'other') } })).to.include({
      status: 429,
    });
    await api.clock.advance(30_000);
    expect((await guess('ann')).status).to.equal(201);
  });
});

describe('rights on users', () => {
  const api = perSuite(() => ApiUnderTest.start());
  let ann: string;
  let uma: string;
  before(async () => {
    ann = await api.userWith('ann', []);
    uma = await api.userWith('uma', [{ verbs: ['get', 'update'], resources: ['users'] }]);
  });

  const status = async (token: string, method: string, path: string, body?: unknown) =>
    (await api.send({ method, path: `${USERS}${path}`, headers: { authorization: `Bearer ${token}` }, body })).status;

  async function bindSelf(): Promise<void> {
    const metadata = { name: 'system:user' };
    const rules = [{ verbs: ['get', 'update'], resources: ['localselfuser'] }];
    await api.put('clusterroles', undefined, metadata.name, roleWithDefaults({ metadata, rules }));
    const subjects = [{ type: 'Group', name: 'system:users' }];
    const binding = { metadata, subjects, role_ref: { type: 'ClusterRole', name: metadata.name } };
    await api.put('clusterrolebindings', undefined, metadata.name, roleBindingWithDefaults(binding));
  }

  it('do not let users see themselves without the binding system:user, even with a rule on users', async () => {
    expect(await status(ann, 'GET', '/ann')).to.equal(403);
    expect(await status(uma, 'GET', '/uma')).to.equal(403);
    expect(await status(uma, 'PUT', '/uma/password', {})).to.equal(403);
    expect(await status(uma, 'GET', '/ann')).to.equal(200);
  });

  it('let users see themselves and change their own password, and nothing else', async () => {
    await bindSelf();
    const change = { password: 'ann', password_hash: HASH };
    const cases: [string, string, unknown, number][] = [
      ['GET', '/ann', undefined, 200],
      ['GET', '/%61nn', undefined, 200],
      ['PUT', '/ann/password', change, 201],
      ['GET', '', undefined, 403],
      ['GET', '/admin', undefined, 403],
      ['PUT', '/admin/password', { password: ADMIN_PASSWORD, password_hash: HASH }, 403],
      ['PUT', '/ann', { username: 'ann', password: 'Passw0rd-1' }, 403],
      ['PUT', '/ann/reset_password', { password_hash: HASH }, 403],
      ['PUT', '/ann/reinstate', undefined, 403],
      ['PUT', '/ann/groups/cluster-admins', undefined, 403],
      ['DELETE', '/ann/groups', undefined, 403],
      ['DELETE', '/ann', undefined, 403],
      ['POST', '', { username: 'bob', password: 'Passw0rd-1' }, 403],
    ];
    for (const [method, path, body, expected] of cases) {
      expect([method, path, await status(ann, method, path, body)]).to.deep.equal([method, path, expected]);
    }
  });

  it('let the holder of an API key see its own user, and no other', async () => {
    await bindSelf();
    await api.putUser('admin', { password: ADMIN_PASSWORD, groups: [] });
    const headers = { authorization: `Key ${ADMIN_KEY}` };
    expect((await api.send({ path: `${USERS}/admin`, headers })).status).to.equal(200);
    expect((await api.send({ path: `${USERS}/ann`, headers })).status).to.equal(403);
  });
});
