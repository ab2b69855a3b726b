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
  const api = perSuite(() => ApiUnderTest.start());

  const statusWith = async (token: string) =>
    (await api.send({ path: CHECKS, headers: { authorization: `Bearer ${token}` } })).status;

  /** Signed as ours are: by the secret of the backend under test, unless told. */
  const signed = (claims: Record<string, unknown>, header: object = {}, secret = Buffer.alloc(32, 7)) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...header }).sign(secret);

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
  /** A token of the administrator's session in which some claims are others. */
  const otherwise = async (
    claims: Record<string, unknown>,
    ...how: [header?: object, secret?: Buffer<ArrayBuffer>]
  ) => {
    const own = decodeJwt(await api.login('admin', ADMIN_PASSWORD));
    return signed({ ...own, ...claims }, ...how);
  };
  const forgeries: [string, () => Promise<string>, number][] = [
    ['signed by us', () => otherwise({}), 200],
    ['without an end', () => otherwise({ exp: undefined }), 401],
    ['without a kind', () => otherwise({ kind: undefined }), 401],
    ['of another kind', () => otherwise({ kind: 'refresh' }), 401],
    ['without a user', () => otherwise({ sub: undefined }), 401],
    ['without an id', () => otherwise({ jti: undefined }), 401],
    ['without a session', () => otherwise({ session_id: undefined }), 401],
    ['of a session that there is not', () => otherwise({ session_id: 'x' }), 401],
    ['of a user who is gone', () => otherwise({ sub: 'x' }), 401],
    ['of a user who is a path', () => otherwise({ sub: '../users/admin' }), 401],
    ['of a user with a session of his own', () => otherwise({ sub: 'reader' }), 401],
    ['without an issuer', () => otherwise({ iss: undefined }), 401],
    ['of another issuer', () => otherwise({ iss: 'http://elsewhere:8080' }), 401],
    ['from the future', () => otherwise({ iat: nowS() + 5 }), 401],
    ['not yet valid', () => otherwise({ nbf: nowS() + 5 }), 401],
    ['of another algorithm', () => otherwise({}, { alg: 'HS512' }, Buffer.alloc(64, 7)), 401],
    ['of another secret', () => otherwise({}, {}, Buffer.alloc(32, 8)), 401],
    ['with the id of a key', () => otherwise({}, { kid: '../../dev/null' }), 401],
    ['with a key', () => otherwise({}, { jwk: { kty: 'oct', k: '' } }), 401],
  ];
  for (const [what, forge, status] of forgeries) {
    it(`is answered ${status} when it is ${what}`, async () => {
      await api.userWith('reader', [{ verbs: ['list'], resources: ['checks'] }]);
      expect(await statusWith(await forge())).to.equal(status);
    });
  }

  it('is refused unsigned', async () => {
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

  it('gives a new pair of the same session for an access token that has expired, again and again', async () => {
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

  it('is refused twelve hours after the last', async () => {
    api.clock.jump(12 * 3_600_000 + 1_000);
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([401, 'Request unauthorized\n']);
  });

  it('is answered with the current token when it comes again within ten seconds', async () => {
    const { tokens: second } = await refresh(first);
    api.clock.jump(9_999);
    const { status, tokens: repeated } = await refresh(first);
    expect([status, repeated.refresh_token]).to.deep.equal([200, second.refresh_token]);
    expect([await seenWith(first), await seenWith(second), await seenWith(repeated)]).to.deep.equal([200, 200, 200]);
  });

  it('ends the session when its token was used before, and says so in the log without the token', async () => {
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

  it('names the address it came by; access tokens that name the one before stay good', async () => {
    const { tokens } = await refresh(first, { host: 'mon.example:8443' });
    expect(decodeJwt(tokens.access_token).iss).to.equal('http://mon.example:8443');
    expect([await seenWith(first), await seenWith(tokens)]).to.deep.equal([200, 200]);
  });

  it('is refused by an address that no name can have, like a login', async () => {
    const headers = { host: 'h'.repeat(262), authorization: basic('admin', ADMIN_PASSWORD) };
    const refusal = [400, 'header Host must be at most 261 characters\n'];
    const { status, text } = await api.send({ path: '/auth', headers });
    expect([status, text]).to.deep.equal(refusal);
    const refreshed = await refresh(first, { host: headers.host });
    expect([refreshed.status, refreshed.text]).to.deep.equal(refusal);
    expect((await refresh(first)).status).to.equal(200);
  });

  it('needs both tokens of one login', async () => {
    const { body } = await api.send({ path: '/auth', headers: { authorization: basic('admin', ADMIN_PASSWORD) } });
    const other = body as Login;
    for (const path of ['/auth/token', '/auth/logout']) {
      const { status, text } = await post(path, first.access_token, other.refresh_token);
      expect([status, text]).to.deep.equal([401, 'Request unauthorized\n']);
    }
    expect([await seenWith(first), await seenWith(other)]).to.deep.equal([200, 200]);
  });

  it('is refused by its header before its body is read', async () => {
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

  it('is not to be stored by anybody on the way', async () => {
    const { headers } = await post('/auth/token', first.access_token, first.refresh_token);
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('is over after a logout, which may be repeated; other sessions stay', async () => {
    for (let time = 1; time <= 2; time += 1) {
      const { status, text } = await post('/auth/logout', first.access_token, first.refresh_token);
      expect([status, text]).to.deep.equal([200, '']);
    }
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([400, 'invalid access token\n']);
    expect(await seenWith(first)).to.equal(401);
    expect(await seenWith({ ...first, access_token: api.token })).to.equal(200);
  });

  it('is refused while the user is disabled, who may log out', async () => {
    await api.putUser('admin', { password: ADMIN_PASSWORD, groups: ['cluster-admins'], disabled: true });
    const { status, text } = await refresh(first);
    expect([status, text]).to.deep.equal([401, 'Unauthorized\n']);
    expect((await post('/auth/logout', first.access_token, first.refresh_token)).status).to.equal(200);
  });
});
