import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { ADMIN_PASSWORD, ApiUnderTest, basic } from './api-under-test.ts';

const CHECKS = '/api/core/v2/namespaces/default/checks';
const ACCESS_MS = 5 * 60_000;

interface Login {
  access_token: string;
  expires_at: number;
  refresh_token: string;
}

describe('a login', () => {
  let api: ApiUnderTest;
  before(async () => {
    api = await ApiUnderTest.start();
  });
  after(() => api.stop());

  const login = async (authorization: string, path = '/auth') => api.send({ path, headers: { authorization } });
  const admin = basic('admin', ADMIN_PASSWORD);

  it('gives an access token for five minutes and a refresh token for twelve hours', async () => {
    const { status, body, headers } = await login(admin);
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    const { access_token: access, expires_at: expiresAt, refresh_token: refresh } = body as Login;
    const nowS = Math.floor(api.clock.nowMs() / 1000);
    expect(expiresAt).to.equal(nowS + 300);
    expect(decodeProtectedHeader(access)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    const claims = decodeJwt(access);
    expect(claims).to.deep.include({
      sub: 'admin',
      kind: 'access',
      exp: expiresAt,
      iss: `http://127.0.0.1:${api.port}`,
      groups: ['cluster-admins', 'system:users'],
      provider: { provider_id: 'basic', provider_type: '', user_id: 'admin' },
      api_key: false,
    });
    expect(claims.jti).to.match(/^[0-9a-f]{32}$/);
    const { session_id: session } = claims;
    expect(decodeJwt(refresh)).to.deep.include({ sub: 'admin', kind: 'refresh', exp: nowS + 12 * 3600, groups: null });
    expect(decodeJwt(refresh)['session_id']).to.equal(session);
  });

  const refused: [string, string, string, string][] = [
    ['a wrong password', basic('admin', 'nope'), 'Unauthorized\n', 'Request unauthorized\n'],
    ['an unknown user', basic('nobody', 'nope'), 'Unauthorized\n', 'Request unauthorized\n'],
    ['an empty user', basic('', 'x'), 'Unauthorized\n', 'Request unauthorized\n'],
    ['an empty password', basic('admin', ''), 'Unauthorized\n', 'Request unauthorized\n'],
    ['a user in upper case', basic('ADMIN', ADMIN_PASSWORD), 'Unauthorized\n', 'Request unauthorized\n'],
    ['a user as a path', basic('../users/admin', ADMIN_PASSWORD), 'Unauthorized\n', 'Request unauthorized\n'],
    ['a user too long for a key', basic('u'.repeat(5000), 'x'), 'Unauthorized\n', 'Request unauthorized\n'],
    ['what is not base64', 'Basic !!!', 'Unauthorized\n', 'Request unauthorized\n'],
    ['the scheme in lower case', admin.toLowerCase(), 'Request unauthorized\n', 'Request unauthorized\n'],
    ['no header', '', 'Request unauthorized\n', 'Request unauthorized\n'],
  ];
  for (const [what, authorization, onLogin, onTest] of refused) {
    it(`is refused as text for ${what}`, async () => {
      const [first, second] = [await login(authorization), await login(authorization, '/auth/test')];
      expect([first.status, first.text]).to.deep.equal([401, onLogin]);
      expect([second.status, second.text]).to.deep.equal([401, onTest]);
      expect(first.headers['content-type']).to.equal('text/plain; charset=utf-8');
    });
  }

  it('can be tried without a token as the result', async () => {
    const { status, text } = await login(admin, '/auth/test');
    expect([status, text]).to.deep.equal([200, '']);
  });

  it('is a request to refresh when it comes with a token, and then lacks a body', async () => {
    const { status, text } = await login(`Bearer ${api.token}`);
    expect([status, text]).to.deep.equal([400, 'EOF\n']);
  });
});

describe('an access token', () => {
  let api: ApiUnderTest;
  before(async () => {
    api = await ApiUnderTest.start();
  });
  after(() => api.stop());

  const statusWith = async (token: string) =>
    (await api.send({ path: CHECKS, headers: { authorization: `Bearer ${token}` } })).status;

  const signed = (claims: Record<string, unknown>, alg = 'HS256', secret = Buffer.alloc(32, 7)) =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(secret);

  it('counts during its last second and not after it', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    const { access_token: token, expires_at: expiresAt } = body as Login;
    api.clock.jump(expiresAt * 1000 - api.clock.nowMs());
    expect(await statusWith(token)).to.equal(200);
    api.clock.jump(1000);
    expect(await statusWith(token)).to.equal(401);
    api.clock.jump(-ACCESS_MS);
    expect(await statusWith(token)).to.equal(200);
  });

  it('is not the refresh token', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    expect(await statusWith((body as Login).refresh_token)).to.equal(401);
  });

  const nowS = (): number => Math.floor(api.clock.nowMs() / 1000);
  const forgeries: [string, () => Promise<string>, number][] = [
    ['signed by us', () => signed({ kind: 'access', sub: 'admin', exp: nowS() + 9, groups: ['cluster-admins'] }), 200],
    ['without an end', () => signed({ kind: 'access', sub: 'admin', groups: ['cluster-admins'] }), 401],
    ['without a kind', () => signed({ sub: 'admin', exp: nowS() + 9, groups: ['cluster-admins'] }), 401],
    ['without a user', () => signed({ kind: 'access', exp: nowS() + 9, groups: ['cluster-admins'] }), 401],
    [
      'of a user who is gone',
      () => signed({ kind: 'access', sub: 'x', exp: nowS() + 9, groups: ['cluster-admins'] }),
      401,
    ],
    ['from the future', () => signed({ kind: 'access', sub: 'admin', exp: nowS() + 9, iat: nowS() + 5 }), 401],
    ['not yet valid', () => signed({ kind: 'access', sub: 'admin', exp: nowS() + 9, nbf: nowS() + 5 }), 401],
    [
      'of another algorithm',
      () => signed({ kind: 'access', sub: 'admin', exp: nowS() + 9 }, 'HS512', Buffer.alloc(64, 7)),
      401,
    ],
    [
      'of another secret',
      () => signed({ kind: 'access', sub: 'admin', exp: nowS() + 9 }, 'HS256', Buffer.alloc(32, 8)),
      401,
    ],
  ];
  for (const [what, forge, status] of forgeries) {
    it(`is answered ${status} when it is ${what}`, async () => {
      expect(await statusWith(await forge())).to.equal(status);
    });
  }

  it('is refused unsigned', async () => {
    const [header = '', claims = ''] = api.token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [`${header}.${claims}.`, `${header}.${claims}`, `${none}.${claims}.`]) {
      expect(await statusWith(token)).to.equal(401);
    }
  });
});
