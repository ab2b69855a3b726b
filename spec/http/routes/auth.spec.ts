import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { ADMIN_PASSWORD, ApiUnderTest, basic } from '../api-under-test.ts';
import { perSuite, perTest } from '../../support/fixture.ts';

const CHECKS = '/api/core/v2/namespaces/default/checks';
const ACCESS_MS = 5 * 60_000;

interface Login {
  access_token: string;
  expires_at: number;
  refresh_token: string;
}

describe('a login', () => {
  const api = perSuite(() => ApiUnderTest.start());

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
    it(`is rejected with a plain text for ${what}`, async () => {
      const [first, second] = [await login(authorization), await login(authorization, '/auth/test')];
      expect([first.status, first.text]).to.deep.equal([401, onLogin]);
      expect([second.status, second.text]).to.deep.equal([401, onTest]);
      expect(first.headers['content-type']).to.equal('text/plain; charset=utf-8');
    });
  }

  it('can be tested without receiving tokens', async () => {
    const { status, text } = await login(admin, '/auth/test');
    expect([status, text]).to.deep.equal([200, '']);
  });

  it('counts as a refresh when it is sent with a token, and then needs a body', async () => {
    const { status, text } = await login(`Bearer ${api.token}`);
    expect([status, text]).to.deep.equal([400, 'EOF\n']);
  });
});

describe('an access token', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const statusWith = async (token: string) =>
    (await api.send({ path: CHECKS, headers: { authorization: `Bearer ${token}` } })).status;

  /** Signs a token as the backend under test does, with its secret unless another one is given. */
  const signed = (claims: Record<string, unknown>, header: object = {}, secret = Buffer.alloc(32, 7)) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header }).sign(secret);

  it('is valid during its last second and not after it', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    const { access_token: token, expires_at: expiresAt } = body as Login;
    api.clock.jump(expiresAt * 1000 - api.clock.nowMs());
    expect(await statusWith(token)).to.equal(200);
    api.clock.jump(1000);
    expect(await statusWith(token)).to.equal(401);
    api.clock.jump(-ACCESS_MS);
    expect(await statusWith(token)).to.equal(200);
  });

  it('cannot be replaced by the refresh token', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    expect(await statusWith((body as Login).refresh_token)).to.equal(401);
  });

  const nowS = (): number => Math.floor(api.clock.nowMs() / 1000);
  /** Returns a token of the administrator's session with some claims changed. */
  const tokenWith = async (
    claims: Record<string, unknown>,
    ...how: [header?: object, secret?: Buffer<ArrayBuffer>]
  ) => {
    const own = decodeJwt(await api.login('admin', ADMIN_PASSWORD));
    return signed({ ...own, ...claims }, ...how);
  };
  const forgeries: [string, () => Promise<string>, number][] = [
    ['signed by us', () => tokenWith({}), 200],
    ['without an end', () => tokenWith({ exp: undefined }), 401],
    ['without a kind', () => tokenWith({ kind: undefined }), 401],
    ['of another kind', () => tokenWith({ kind: 'refresh' }), 401],
    ['without a user', () => tokenWith({ sub: undefined }), 401],
    ['without an id', () => tokenWith({ jti: undefined }), 401],
    ['without a session', () => tokenWith({ session_id: undefined }), 401],
    ['of a session that does not exist', () => tokenWith({ session_id: 'x' }), 401],
    ['of a deleted user', () => tokenWith({ sub: 'x' }), 401],
    ['of a user whose name is a path', () => tokenWith({ sub: '../users/admin' }), 401],
    ['of another user who has a session', () => tokenWith({ sub: 'reader' }), 401],
    ['without an issuer', () => tokenWith({ iss: undefined }), 401],
    ['of another issuer', () => tokenWith({ iss: 'http://elsewhere:8080' }), 401],
    ['from the future', () => tokenWith({ iat: nowS() + 5 }), 401],
    ['not yet valid', () => tokenWith({ nbf: nowS() + 5 }), 401],
    ['of another algorithm', () => tokenWith({}, { alg: 'HS512' }, Buffer.alloc(64, 7)), 401],
    ['of another secret', () => tokenWith({}, {}, Buffer.alloc(32, 8)), 401],
    ['with the id of a key', () => tokenWith({}, { kid: '../../dev/null' }), 401],
    ['with a key', () => tokenWith({}, { jwk: { kty: 'oct', k: '' } }), 401],
  ];
  for (const [what, forge, status] of forgeries) {
    it(`is answered ${status} when it is ${what}`, async () => {
      await api.userWith('reader', [{ verbs: ['list'], resources: ['checks'] }]);
      expect(await statusWith(await forge())).to.equal(status);
    });
  }

  it('is rejected without a signature', async () => {
    const [header = '', claims = ''] = api.token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [`${header}.${claims}.`, `${header}.${claims}`, `${none}.${claims}.`]) {
      expect(await statusWith(token)).to.equal(401);
    }
    expect(await statusWith(api.token)).to.equal(200);
  });
});

describe('a refresh', () => {
  const api = perTest(() => ApiUnderTest.start());
  let first: Login;
  beforeEach(async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    first = body as Login;
  });

  const post = (path: string, access: string, refresh: string, headers: Record<string, string> = {}) =>
    api.send({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${access}`, ...headers },
      body: { refresh_token: refresh },
    });
  const refresh = async (tokens: Login, headers?: Record<string, string>) => {
    const { status, body, text } = await post('/auth/token', tokens.access_token, tokens.refresh_token, headers);
    return { status, text, tokens: body as Login };
  };
  const seenWith = async ({ access_token: token }: Login) =>
    (await api.send({ path: CHECKS, headers: { authorization: `Bearer ${token}` } })).status;

  it('returns new tokens of the same session for an expired access token, any number of times', async () => {
    let tokens = first;
    const seen = new Set([tokens.refresh_token]);
    for (let time = 1; time <= 3; time += 1) {
      api.clock.jump(11 * 3_600_000);
      expect(await seenWith(tokens)).to.equal(401);
      const answer = await refresh(tokens);
      expect(answer.status).to.equal(200);
      ({ tokens } = answer);
      expect(await seenWith(tokens)).to.equal(200);
      expect(decodeJwt(tokens.access_token)['session_id']).to.equal(decodeJwt(first.access_token)['session_id']);
      expect(decodeJwt(tokens.refresh_token).exp).to.equal(Math.floor(api.clock.nowMs() / 1000) + 12 * 3600);
      seen.add(tokens.refresh_token);
    }
    expect(seen.size).to.equal(4);
  });

  it('is rejected twelve hours after the previous one', async () => {
    api.clock.jump(12 * 3_600_000 + 1_000);
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([401, 'Request unauthorized\n']);
  });

  it('is answered with the current token when it is repeated within ten seconds', async () => {
    const { tokens: second } = await refresh(first);
    api.clock.jump(9_999);
    const { status, tokens: repeated } = await refresh(first);
    expect([status, repeated.refresh_token]).to.deep.equal([200, second.refresh_token]);
    expect([await seenWith(first), await seenWith(second), await seenWith(repeated)]).to.deep.equal([200, 200, 200]);
  });

  it('ends the session when its token was used before, and logs this without the token', async () => {
    const { tokens: second } = await refresh(first);
    api.clock.jump(10_000);
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([400, 'invalid access token\n']);
    expect([await seenWith(first), await seenWith(second)]).to.deep.equal([401, 401]);
    expect((await refresh(second)).status).to.equal(400);
    expect(await seenWith({ ...first, access_token: api.token })).to.equal(200);
    const said = JSON.stringify(api.log.lines);
    expect(said).to.include('refresh token was used twice');
    for (const token of [first.refresh_token, second.refresh_token]) expect(said).to.not.include(token);
  });

  it('returns tokens that name the address of the request; access tokens that name the previous address stay valid', async () => {
    const { tokens } = await refresh(first, { host: 'mon.example:8443' });
    expect(decodeJwt(tokens.access_token).iss).to.equal('http://mon.example:8443');
    expect([await seenWith(first), await seenWith(tokens)]).to.deep.equal([200, 200]);
  });

  it('is rejected, like a login, when the Host header is too long', async () => {
    const headers = { host: 'h'.repeat(262), authorization: basic('admin', ADMIN_PASSWORD) };
    const refusal = [400, 'header Host must be at most 261 characters\n'];
    const { status, text } = await api.send({ path: '/auth', headers });
    expect([status, text]).to.deep.equal(refusal);
    const refreshed = await refresh(first, { host: headers.host });
    expect([refreshed.status, refreshed.text]).to.deep.equal(refusal);
    expect((await refresh(first)).status).to.equal(200);
  });

  it('needs both tokens of the same login', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    const other = body as Login;
    for (const path of ['/auth/token', '/auth/logout']) {
      const { status, text } = await post(path, first.access_token, other.refresh_token);
      expect([status, text]).to.deep.equal([401, 'Request unauthorized\n']);
    }
    expect([await seenWith(first), await seenWith(other)]).to.deep.equal([200, 200]);
  });

  it('is rejected by its header before its body is read', async () => {
    const long = 'x'.repeat(600_000);
    for (const path of ['/auth/token', '/auth/logout']) {
      const send = (authorization: string) =>
        api.send({ method: 'POST', path, headers: { authorization }, text: long });
      expect((await send('')).status).to.equal(401);
      expect((await send('Bearer x')).status).to.equal(401);
      expect((await send(basic('admin', ADMIN_PASSWORD))).status).to.equal(400);
      expect((await send(`Bearer ${first.access_token}`)).status).to.equal(413);
    }
  });

  it('has an answer that caches must not store', async () => {
    const { headers } = await post('/auth/token', first.access_token, first.refresh_token);
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('is rejected after a logout, which may be repeated and leaves other sessions valid', async () => {
    for (let time = 1; time <= 2; time += 1) {
      const { status, text } = await post('/auth/logout', first.access_token, first.refresh_token);
      expect([status, text]).to.deep.equal([200, '']);
    }
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([400, 'invalid access token\n']);
    expect(await seenWith(first)).to.equal(401);
    expect(await seenWith({ ...first, access_token: api.token })).to.equal(200);
  });

  it('is rejected while the user is disabled, who may still log out', async () => {
    await api.putUser('admin', { password: ADMIN_PASSWORD, groups: ['cluster-admins'], disabled: true });
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([401, 'Unauthorized\n']);
    expect((await post('/auth/logout', first.access_token, first.refresh_token)).status).to.equal(200);
  });
});
